/**
 * The schema of Open Responses 2.3.0 for responses and stream events, written from the published specification (openresponses.org):
 * required members and their types. Other members are allowed.
 */
import { type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';

const text = Type.String();
const whole = Type.Integer();
const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);
const oneOf = (...words: string[]) => Type.Enum(words);
/** A schema for this `type`. */
const typed = (type: string, members: { [member: string]: TSchema } = {}) =>
  Type.Object({ type: Type.Literal(type), ...members });

const STATUS = oneOf('in_progress', 'completed', 'incomplete');
const VALUE = oneOf('none', 'auto', 'required');

const urlCitation = typed('url_citation', { url: text, start_index: whole, end_index: whole, title: text });
const likely = { token: text, logprob: Type.Number(), bytes: Type.Array(whole) };
const logprobs = Type.Array(
  Type.Object({ ...likely, top_logprobs: Type.Array(Type.Object(likely)) }, { description: 'log probabilities' }),
);
const piece = Type.Union([
  typed('input_text', { text }),
  typed('output_text', { text, annotations: Type.Array(urlCitation), logprobs: Type.Optional(logprobs) }),
  typed('text', { text }),
  typed('summary_text', { text }),
  typed('reasoning_text', { text }),
  typed('refusal', { refusal: text }),
  typed('input_image', { image_url: orNull(text), detail: oneOf('low', 'high', 'auto') }),
  typed('input_file'),
]);
const item = Type.Union([
  typed('message', {
    id: text,
    status: STATUS,
    role: oneOf('user', 'assistant', 'system', 'developer'),
    content: Type.Array(piece),
  }),
  typed('function_call', { id: text, call_id: text, name: text, arguments: text, status: STATUS }),
  typed('function_call_output', { id: text, call_id: text, status: STATUS }),
  typed('reasoning', { id: text, summary: Type.Array(piece), encrypted_content: Type.Optional(text) }),
  typed('compaction', { id: text, encrypted_content: text }),
]);
const functionTool = typed('function', {
  name: text,
  description: orNull(text),
  parameters: orNull(Type.Object({})),
  strict: orNull(Type.Boolean()),
});
const functionChoice = typed('function', { name: Type.Optional(text) });

const RESPONSE = Type.Object({
  id: text,
  object: Type.Literal('response'),
  created_at: whole,
  completed_at: orNull(whole),
  status: text,
  incomplete_details: orNull(Type.Object({ reason: text })),
  model: text,
  previous_response_id: orNull(text),
  instructions: orNull(text),
  output: Type.Array(item),
  error: orNull(Type.Object({ code: text, message: text })),
  tools: Type.Array(functionTool),
  tool_choice: Type.Union([
    functionChoice,
    VALUE,
    typed('allowed_tools', { tools: Type.Array(functionChoice), mode: VALUE }),
  ]),
  truncation: oneOf('auto', 'disabled'),
  parallel_tool_calls: Type.Boolean(),
  text: Type.Object({
    format: Type.Union([
      typed('text'),
      typed('json_object'),
      // The specification has `schema` as null here, but every server repeats the given schema.
      typed('json_schema', { name: text, description: orNull(text), strict: Type.Boolean() }),
    ]),
    verbosity: Type.Optional(oneOf('low', 'medium', 'high')),
  }),
  top_p: Type.Number(),
  presence_penalty: Type.Number(),
  frequency_penalty: Type.Number(),
  top_logprobs: whole,
  temperature: Type.Number(),
  reasoning: orNull(
    Type.Object({
      effort: orNull(oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh')),
      summary: orNull(oneOf('concise', 'detailed', 'auto')),
    }),
  ),
  usage: orNull(
    Type.Object({
      input_tokens: whole,
      output_tokens: whole,
      total_tokens: whole,
      input_tokens_details: Type.Object({ cached_tokens: whole }),
      output_tokens_details: Type.Object({ reasoning_tokens: whole }),
    }),
  ),
  max_output_tokens: orNull(whole),
  max_tool_calls: orNull(whole),
  store: Type.Boolean(),
  background: Type.Boolean(),
  service_tier: text,
  metadata: Type.Unknown(),
  safety_identifier: orNull(text),
  prompt_cache_key: orNull(text),
});

const place = { item_id: text, output_index: whole };
const inPiece = { ...place, content_index: whole };
const inSummary = { ...place, summary_index: whole };

/** The members of each event besides `type` and `sequence_number`. */
const EVENTS: { readonly [type: string]: { [member: string]: TSchema } } = {
  ...Object.fromEntries(
    ['created', 'queued', 'in_progress', 'completed', 'failed', 'incomplete'].map((word) => [
      `response.${word}`,
      { response: RESPONSE },
    ]),
  ),
  'response.output_item.added': { output_index: whole, item: orNull(item) },
  'response.output_item.done': { output_index: whole, item: orNull(item) },
  'response.content_part.added': { ...inPiece, part: piece },
  'response.content_part.done': { ...inPiece, part: piece },
  'response.output_text.delta': { ...inPiece, delta: text, logprobs: Type.Optional(logprobs) },
  'response.output_text.done': { ...inPiece, text, logprobs: Type.Optional(logprobs) },
  'response.output_text.annotation.added': { ...inPiece, annotation_index: whole, annotation: orNull(urlCitation) },
  'response.refusal.delta': { ...inPiece, delta: text },
  'response.refusal.done': { ...inPiece, refusal: text },
  'response.reasoning.delta': { ...inPiece, delta: text },
  'response.reasoning.done': { ...inPiece, text },
  'response.reasoning_summary_part.added': { ...inSummary, part: piece },
  'response.reasoning_summary_part.done': { ...inSummary, part: piece },
  'response.reasoning_summary_text.delta': { ...inSummary, delta: text },
  'response.reasoning_summary_text.done': { ...inSummary, text },
  'response.function_call_arguments.delta': { ...place, delta: text },
  'response.function_call_arguments.done': { ...place, arguments: text },
};

export interface ResponseObject {
  status: string;
  output: { type: string; [member: string]: unknown }[];
  [member: string]: unknown;
}
export interface StreamEvent {
  type: string;
  sequence_number: number;
  response?: ResponseObject;
  item?: { type: string };
}

const response = Compile(RESPONSE);
const events = new Map(
  Object.entries(EVENTS).map(([type, members]) => [type, Compile(typed(type, { sequence_number: whole, ...members }))]),
);

/** The faults of a response; empty if there are none. */
export function faultsOfResponse(body: unknown): string[] {
  return response.Check(body)
    ? []
    : response.Errors(body).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

export function faultsOfEvent(event: StreamEvent): string[] {
  const { type } = event;
  const schema = events.get(type);
  if (!schema) return [`there is no event ${type}`];
  const faults = [...schema.Errors(event)];
  return faults.map(({ instancePath, message }) => `${type} ${instancePath} ${message}`);
}
