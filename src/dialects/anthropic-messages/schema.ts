/** What a messages request must look like; members that stand here not at all pass. Descriptions are written to follow "must be". */
import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { GatewayError } from '../../canonical/errors.ts';
import { wrong } from '../request-body.ts';

const text = (description: string) => Type.String({ description });
const flag = () => Type.Boolean({ description: 'true or false' });
/** Many clients write `null` for a member they leave open. */
const open = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]));

const AnyBlock = Type.Object({ type: text('the type of the block') }, { description: 'a block with a `type`' });
const Content = Type.Union([Type.String(), Type.Array(AnyBlock)], { description: 'a string or an array of blocks' });
const Cache = open(
  Type.Object(
    {
      type: Type.Literal('ephemeral', { description: '"ephemeral"' }),
      ttl: open(Type.Union([Type.Literal('5m'), Type.Literal('1h')], { description: '"5m" or "1h"' })),
    },
    { description: 'a cache mark such as {"type": "ephemeral"}' },
  ),
);

const ToolChoice = Type.Object(
  {
    type: text('the type of the choice'),
    name: open(text('the name of a tool')),
    disable_parallel_tool_use: open(flag()),
  },
  { description: 'an object with a `type`' },
);

const Thinking = Type.Object(
  {
    type: text('"enabled", "adaptive" or "disabled"'),
    budget_tokens: open(Type.Integer({ minimum: 1024, description: 'an integer of at least 1024' })),
    display: open(text('"summarized" or "omitted"')),
  },
  { description: 'an object with a `type`' },
);

const JsonFormat = Type.Object(
  { type: text('"json_schema"'), schema: Type.Object({}, { description: 'a JSON schema' }) },
  { description: 'an object with `type` and `schema`' },
);

export const Body = Type.Object(
  {
    model: Type.String({ minLength: 1, description: 'the name of a model' }),
    max_tokens: Type.Integer({ minimum: 1, description: 'an integer of at least 1' }),
    messages: Type.Array(
      Type.Object(
        {
          role: Type.Union([Type.Literal('user'), Type.Literal('assistant'), Type.Literal('system')], {
            description: '"user", "assistant" or "system"',
          }),
          content: Content,
        },
        { description: 'an object with `role` and `content`' },
      ),
      { minItems: 1, description: 'an array of at least one message' },
    ),
    system: open(Content),
    stream: open(flag()),
    temperature: open(Type.Number({ minimum: 0, maximum: 1, description: 'a number from 0 to 1' })),
    top_p: open(Type.Number({ minimum: 0, maximum: 1, description: 'a number from 0 to 1' })),
    top_k: open(Type.Integer({ minimum: 0, description: 'an integer of at least 0' })),
    stop_sequences: open(Type.Array(text('a string'), { description: 'an array of strings' })),
    tools: open(
      Type.Array(Type.Object({}, { description: 'an object with a `name`' }), { description: 'an array of tools' }),
    ),
    tool_choice: open(ToolChoice),
    thinking: open(Thinking),
    output_config: open(
      Type.Object(
        { effort: open(text('"low", "medium", "high", "xhigh" or "max"')), format: open(JsonFormat) },
        { description: 'an object' },
      ),
    ),
    output_format: open(JsonFormat),
    metadata: open(Type.Object({ user_id: open(text('a string')) }, { description: 'an object' })),
    service_tier: open(text('"auto" or "standard_only"')),
  },
  { description: 'a JSON object' },
);
export type Body = Static<typeof Body>;

const Source = Type.Object({ type: text('the type of the source') }, { description: 'an object with a `type`' });

/** The blocks that mean something here; all others pass as they are. */
export const BLOCKS = {
  text: Type.Object({
    text: text('a string'),
    citations: open(Type.Array(Type.Unknown(), { description: 'an array' })),
    cache_control: Cache,
  }),
  image: Type.Object({ source: Source, cache_control: Cache }),
  document: Type.Object({
    source: Source,
    title: open(text('a string')),
    context: open(text('a string')),
    citations: open(Type.Object({ enabled: open(flag()) }, { description: 'an object' })),
    cache_control: Cache,
  }),
  search_result: Type.Object({
    source: text('a string'),
    title: text('a string'),
    content: Type.Array(Type.Object({ text: text('a string') }), { description: 'an array of text blocks' }),
    citations: open(Type.Object({ enabled: open(flag()) }, { description: 'an object' })),
    cache_control: Cache,
  }),
  thinking: Type.Object({ thinking: text('a string'), signature: open(text('a string')) }),
  redacted_thinking: Type.Object({ data: text('a string') }),
  tool_use: Type.Object({
    id: Type.String({ minLength: 1, description: 'a string' }),
    name: Type.String({ minLength: 1, description: 'the name of a tool' }),
    input: Type.Object({}, { description: 'an object' }),
    cache_control: Cache,
  }),
  tool_result: Type.Object({
    tool_use_id: Type.String({ minLength: 1, description: 'the id of a tool call' }),
    content: open(Content),
    is_error: open(flag()),
    cache_control: Cache,
  }),
};

/** The sources of pictures and documents. */
export const SOURCES = {
  base64: Type.Object({ media_type: text('a media type such as "image/png"'), data: text('base64') }),
  text: Type.Object({ data: text('a string') }),
  content: Type.Object({ content: Content }),
  url: Type.Object({ url: text('an address') }),
  file: Type.Object({ file_id: text('the id of a file') }),
};

export const FunctionTool = Type.Object({
  name: Type.String({ minLength: 1, description: 'the name of a tool' }),
  description: open(text('a string')),
  input_schema: Type.Object({}, { description: 'a JSON schema of an object' }),
  strict: open(flag()),
  cache_control: Cache,
});

const compiled = new WeakMap<TSchema, ReturnType<typeof Compile>>();

/** `value` as `schema` has it. Throws `invalid_request` naming the wrong member; `at` is where `value` stands in the body. */
export function checked<S extends TSchema>(schema: S, value: unknown, at = ''): Static<S> {
  let check = compiled.get(schema);
  if (!check) {
    check = Compile(schema) as ReturnType<typeof Compile>;
    compiled.set(schema, check);
  }
  if (check.Check(value)) return value as Static<S>;
  throw faultOf(schema, check.Errors(value) as Fault[], at);
}

interface Fault {
  keyword: string;
  /** JSON pointer into the schema. */
  schemaPath: string;
  /** JSON pointer into the value. */
  instancePath: string;
  params: { requiredProperties?: string[] };
}

/** The fault that lies deepest says most; of a choice's own faults the choice as a whole speaks. */
function faultOf(schema: TSchema, faults: readonly Fault[], at: string): GatewayError {
  const depth = ({ instancePath }: Fault) => instancePath.split('/').length;
  const deepest = Math.max(...faults.map(depth));
  const candidates = faults.filter((fault) => depth(fault) === deepest);
  const fault =
    candidates.find((one) => one.keyword === 'anyOf' && descriptionAt(schema, one.schemaPath) !== undefined) ??
    candidates.find((one) => one.params.requiredProperties !== undefined) ??
    candidates[0];
  const member = memberPath(at, fault?.instancePath ?? '');
  const missing = fault?.params.requiredProperties?.[0];
  if (missing !== undefined) {
    const wanted = fault && descriptionAt(schema, `${fault.schemaPath}/properties/${missing}`);
    return wrong(member ? `${member}.${missing}` : missing, `is required${wanted ? `: ${wanted}` : ''}`);
  }
  if (!member) return new GatewayError('invalid_request', 'The body must be a JSON object.');
  return wrong(member, `must be ${(fault && descriptionAt(schema, fault.schemaPath)) ?? 'of the right type'}`);
}

/** "messages[0]" and "/content/1/type" -> "messages[0].content[1].type". */
function memberPath(at: string, pointer: string): string {
  let path = at;
  for (const step of pointer.split('/').slice(1)) {
    if (/^\d+$/.test(step)) path += `[${step}]`;
    else path += path === '' ? step : `.${step}`;
  }
  return path;
}

/** The description of the schema at a pointer, or of the optional member's union it stands in. */
function descriptionAt(schema: TSchema, pointer: string): string | undefined {
  let at: unknown = schema;
  for (const step of pointer.split('/').slice(1)) {
    at = typeof at === 'object' && at !== null ? (at as { [member: string]: unknown })[step] : undefined;
  }
  if (typeof at !== 'object' || at === null) return undefined;
  const { description, anyOf } = at as { description?: unknown; anyOf?: { description?: unknown }[] };
  const found = description ?? anyOf?.[0]?.description;
  return typeof found === 'string' ? found : undefined;
}
