/** Tools that stand for something the provider has no word for: free text in (custom tools), structured answers out. */
import type { ChatCall, OutputFormat, Tool } from '../../canonical/call.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';

export type JsonSchemaOutput = Extract<OutputFormat, { type: 'json-schema' }>;

/** The one member of a wrapped tool's input. */
const FREE_TEXT = 'input';
const ANSWER = 'answer';

export function customToolSchema({ format }: Extract<Tool, { type: 'custom' }>): JsonObject {
  const grammar = format && format.type !== 'text' ? ` It must follow this format: ${JSON.stringify(format)}` : '';
  return {
    type: 'object',
    properties: { [FREE_TEXT]: { type: 'string', description: `The tool's whole input as plain text.${grammar}` } },
    required: [FREE_TEXT],
    additionalProperties: false,
  };
}

export function wrapFreeText(text: string): JsonObject {
  return { [FREE_TEXT]: text };
}

/** The free text in a custom tool's input; what was not wrapped stays as it is. */
export function unwrapFreeText(json: string): string {
  const text = memberOf(json, FREE_TEXT);
  return typeof text === 'string' ? text : json;
}

/** The name of the tool whose input is the answer: no tool of the client's bears it, in the form the format gives names. */
export function answerToolName({ tools }: ChatCall, legalToolName: (name: string) => string): string {
  let name = 'structured_answer';
  while (tools.some((tool) => 'name' in tool && legalToolName(tool.name) === name)) name += '_';
  return name;
}

/** A tool takes an object: any other answer is its one member. */
export function isAnswerWrapped({ schema }: JsonSchemaOutput): boolean {
  return schema.type !== 'object';
}

export function answerToolSchema(output: JsonSchemaOutput): JsonObject {
  if (!isAnswerWrapped(output)) return output.schema;
  const { $defs, definitions, ...schema } = output.schema;
  return {
    type: 'object',
    properties: { [ANSWER]: schema },
    required: [ANSWER],
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

/** The answer's JSON out of a wrapped tool's input. */
export function unwrapAnswer(json: string): string {
  const answer = memberOf(json, ANSWER);
  return answer === undefined ? json : JSON.stringify(answer);
}

function memberOf(json: string, member: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value[member] : undefined;
  } catch {
    return undefined;
  }
}
