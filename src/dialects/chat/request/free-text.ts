/** Writes tools with free-text input (custom tools) as functions with one string parameter, and reads their input back. */
import type { Tool } from '../../../canonical/call.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { parsedJson } from '../../shared/json-values.ts';

const MEMBER = 'input';

/** The JSON schema of the function's arguments. A grammar becomes part of the description. */
export function freeTextSchema({ format }: Extract<Tool, { type: 'custom' }>): JsonObject {
  const grammar = format && format.type !== 'text' ? ` It must follow this format: ${JSON.stringify(format)}` : '';
  return {
    type: 'object',
    properties: { [MEMBER]: { type: 'string', description: `The tool's whole input as plain text.${grammar}` } },
    required: [MEMBER],
  };
}

export function wrapFreeText(text: string): JsonObject {
  return { [MEMBER]: text };
}

/** The free text in a function's arguments. Other arguments are returned unchanged. */
export function unwrapFreeText(json: string): string {
  const args = parsedJson(json);
  const text = isObject(args) ? args[MEMBER] : undefined;
  return typeof text === 'string' ? text : json;
}
