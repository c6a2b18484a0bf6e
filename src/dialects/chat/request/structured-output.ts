/** Structured output for models without it: the model calls a tool, and the tool's input is the output. */
import type { ChatCall, OutputFormat } from '../../../canonical/call.ts';
import { isObject, type JsonObject } from '../../../canonical/json.ts';
import { parsedJson } from '../../shared/json-values.ts';

export type JsonSchemaOutput = Extract<OutputFormat, { type: 'json-schema' }>;

/** The instruction for models without a JSON mode. */
export const JSON_INSTRUCTION =
  'Answer with one valid JSON object and nothing else: no words around it, no code fence.';

const ANSWER = 'answer';

/** The name of the tool. It differs from the client's tools in the form that the format requires. */
export function answerToolName({ tools }: ChatCall, legalToolName: (name: string) => string): string {
  let name = 'structured_answer';
  while (tools.some((tool) => 'name' in tool && legalToolName(tool.name) === name)) name += '_';
  return name;
}

export interface AnswerTool {
  name: string;
  description: string;
  schema: JsonObject;
  /** For models that cannot be forced to call the tool. */
  instruction: string;
}

export function answerTool(
  call: ChatCall,
  output: JsonSchemaOutput,
  legalToolName: (name: string) => string,
): AnswerTool {
  const name = answerToolName(call, legalToolName);
  return {
    name,
    description: `Give your final answer by calling this tool. ${output.description ?? ''}`.trimEnd(),
    schema: answerSchema(output),
    instruction: `Give your final answer by calling the tool ${name}.`,
  };
}

/** A tool's input must be an object. Any other output is wrapped in one member. */
export function isAnswerWrapped({ schema }: JsonSchemaOutput): boolean {
  return schema.type !== 'object';
}

function answerSchema(output: JsonSchemaOutput): JsonObject {
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

/** Unwraps the output's JSON from the tool's input. */
export function unwrapAnswer(json: string): string {
  const input = parsedJson(json);
  const answer = isObject(input) ? input[ANSWER] : undefined;
  return answer === undefined ? json : JSON.stringify(answer);
}

/** The output format of a request in OpenAI's formats. */
export function jsonSchemaOutput({ name, description, strict }: JsonObject, schema: JsonObject): JsonSchemaOutput {
  return {
    type: 'json-schema',
    name: typeof name === 'string' ? name : 'response',
    schema,
    ...(typeof description === 'string' && { description }),
    ...(typeof strict === 'boolean' && { strict }),
  };
}
