/** Tools that take free text, as functions with one member. */
import type { Tool } from '../../canonical/call.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';

const MEMBER = 'input';

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

/** The free text in a function's arguments; what was not wrapped stays as it is. */
export function unwrapFreeText(json: string): string {
  const args: unknown = JSON.parse(json);
  const text = isObject(args) ? args[MEMBER] : undefined;
  return typeof text === 'string' ? text : json;
}
