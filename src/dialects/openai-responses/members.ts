/** The top-level members of a Responses request: their types, ranges and the words for what would be right. */
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
const oneOf = (...words: string[]) =>
  open(Type.Union(words.map((word) => Type.Literal(word))), `one of ${words.map((word) => `\`${word}\``).join(', ')}`);

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

const MEMBERS = {
  model: Type.String({ minLength: 1, description: 'the name of a model' }),
  input: open(
    Type.Union([Type.String(), Type.Array(Type.Object({}))]),
    'a string or an array of items, each an object',
  ),
  instructions: text,
  max_output_tokens: integerFrom(1),
  max_tool_calls: integerFrom(1),
  temperature: number(0, 2),
  top_p: number(0, 1),
  top_logprobs: open(Type.Integer({ minimum: 0, maximum: 20 }), 'an integer from 0 to 20'),
  stream: boolean,
  stream_options: object,
  store: boolean,
  background: boolean,
  tools: open(
    Type.Array(Type.Object({ type: Type.String() })),
    'an array of tools, each an object with a `type`; a function has its `name` beside it',
  ),
  tool_choice: open(Type.Union([Type.String(), Type.Object({})]), '`auto`, `none`, `required`, or an object'),
  parallel_tool_calls: boolean,
  reasoning: open(
    Type.Object({ effort: text, summary: text }),
    'an object; its `effort` and its `summary` are strings',
  ),
  text: open(
    Type.Object({
      format: open(Type.Object({ type: Type.String() }), 'an object'),
      verbosity: text,
    }),
    'an object; its `format` is an object with a `type`, its `verbosity` a string',
  ),
  previous_response_id: text,
  conversation: open(Type.Union([Type.String(), Type.Object({})]), 'a string or an object'),
  truncation: oneOf('auto', 'disabled'),
  include: open(Type.Array(Type.String()), 'an array of strings'),
  metadata: object,
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  service_tier: text,
} satisfies { [member: string]: TSchema };

const validator = validatorOf(Type.Object(MEMBERS));

/** A request's body whose top-level members are of the right types and in range. Throws `invalid_request` naming the member. */
export function readMembers(body: Uint8Array): JsonObject {
  const members = parseBody(body);
  if (!isObject(members)) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  if (validator().Check(members)) return members;
  if (members.model === undefined) throw wrong('model', `is required: ${descriptionOf('model')}`);
  const path = firstWrongPath(members);
  const right = descriptionOf(path[0] ?? '');
  throw wrong(
    dotted(path),
    path.length > 1 ? `is of the wrong type: \`${path[0]}\` must be ${right}` : `must be ${right}`,
  );
}

/** Of a union's complaints the deepest says the most. */
function firstWrongPath(members: JsonObject): string[] {
  let [found, ...others] = validator()
    .Errors(members)
    .map((error) => error.instancePath.split('/').slice(1));
  for (const other of others) if (other[0] === found?.[0] && other.length > (found?.length ?? 0)) found = other;
  return found ?? [];
}

function descriptionOf(member: string): string {
  const schemas: { readonly [member: string]: TSchema & { description?: string } } = MEMBERS;
  return schemas[member]?.description ?? 'as the API describes it';
}
