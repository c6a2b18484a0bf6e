/** The top-level members of a chat request: their types, ranges and the words for what would be right. */
import { type TSchema, Type } from 'typebox';
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import { dotted, parseBody, wrong } from '../request-body.ts';
import { validatorOf } from '../validator.ts';

/** Many clients write `null` for a member they leave open. */
const open = (schema: TSchema, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }));

const number = (minimum: number, maximum: number) =>
  open(Type.Number({ minimum, maximum }), `a number from ${minimum} to ${maximum}`);
const integerFrom = (minimum: number) => open(Type.Integer({ minimum }), `an integer of at least ${minimum}`);
const boolean = open(Type.Boolean(), '`true` or `false`');
const text = open(Type.String(), 'a string');
const object = open(Type.Object({}), 'an object');
const wordOrObject = (words: string) => open(Type.Union([Type.String(), Type.Object({})]), `${words}, or an object`);

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

const MEMBERS = {
  model: Type.String({ minLength: 1, description: 'the name of a model' }),
  messages: Type.Array(Type.Object({}), { minItems: 1, description: 'a non-empty array of messages, each an object' }),
  temperature: number(0, 2),
  top_p: number(0, 1),
  n: integerFrom(1),
  stream: boolean,
  stream_options: open(Type.Object({ include_usage: boolean }), 'an object; its `include_usage` is `true` or `false`'),
  stop: open(Type.Union([Type.String(), Type.Array(Type.String())]), 'a string or an array of strings'),
  max_tokens: integerFrom(1),
  max_completion_tokens: integerFrom(1),
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
  logit_bias: open(Type.Record(Type.String(), Type.Number()), 'an object of token ids and numbers'),
  logprobs: boolean,
  top_logprobs: open(Type.Integer({ minimum: 0, maximum: 20 }), 'an integer from 0 to 20'),
  top_k: open(Type.Integer(), 'an integer'),
  seed: open(Type.Integer(), 'an integer'),
  user: text,
  safety_identifier: text,
  tools: open(Type.Array(Type.Object({})), 'an array of tools, each an object'),
  tool_choice: wordOrObject('`auto`, `none`, `required`'),
  functions: open(Type.Array(Type.Object({ name: Type.String() })), 'an array of functions, each with a `name`'),
  function_call: wordOrObject('`auto`, `none`'),
  parallel_tool_calls: boolean,
  response_format: open(Type.Object({ type: Type.String() }), 'an object with a `type`'),
  // Vendors have words of their own for it (Groq's `default`).
  reasoning_effort: text,
  reasoning: object,
  thinking: object,
  enable_thinking: boolean,
  modalities: open(Type.Array(Type.String()), 'an array of strings'),
  audio: open(Type.Object({ format: Type.Optional(Type.String()) }), 'an object with `voice` and `format`'),
  metadata: object,
  prompt_cache_key: text,
  service_tier: text,
  verbosity: text,
  web_search_options: object,
  contents: open(Type.Array(Type.Unknown()), 'an array'),
  extra_body: object,
} satisfies { [member: string]: TSchema };

const validator = validatorOf(Type.Object(MEMBERS));

/** A request's body whose top-level members are of the right types and in range. Throws `invalid_request` naming the member. */
export function readMembers(body: Uint8Array): JsonObject {
  const members = parseBody(body);
  if (!isObject(members)) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  if (validator().Check(members)) return members;
  for (const required of ['model', 'messages'] as const) {
    if (members[required] === undefined) throw wrong(required, `is required: ${descriptionOf(required)}`);
  }
  const [first] = validator().Errors(members);
  const path = first?.instancePath.split('/').slice(1) ?? [];
  const right = descriptionOf(path[0] ?? '');
  throw wrong(
    dotted(path),
    path.length > 1 ? `is of the wrong type: \`${path[0]}\` must be ${right}` : `must be ${right}`,
  );
}

function descriptionOf(member: string): string {
  const schemas: { readonly [member: string]: TSchema & { description?: string } } = MEMBERS;
  return schemas[member]?.description ?? 'as the API describes it';
}
