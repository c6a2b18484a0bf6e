/** Rules for the members of each format's reply: they exist and have the specified type. */
import { expect } from 'bun:test';
import { type Any, expectKind, type Kind, type Rule, replyOf, rule, type Sent, sample, type World } from './world.ts';

/** Members by their path; `[]` is the first element of a list. */
interface Reply {
  what: string;
  sent: Sent;
  members: readonly (readonly [path: string, kind: Kind, constant?: unknown])[];
}

const LOOK = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };
export const FUNCTION = { type: 'function', function: { name: 'look', parameters: LOOK } };

/** Counts that the usage objects of chat, Responses and completions share. */
export const USAGE: Reply['members'] = [
  ['usage.prompt_tokens', 'integer'],
  ['usage.completion_tokens', 'integer'],
  ['usage.total_tokens', 'integer'],
  ['usage.prompt_tokens_details', 'object'],
  ['usage.prompt_tokens_details.cached_tokens', 'integer'],
  ['usage.prompt_tokens_details.text_tokens', 'integer'],
  ['usage.prompt_tokens_details.audio_tokens', 'integer'],
  ['usage.prompt_tokens_details.image_tokens', 'integer'],
  ['usage.completion_tokens_details', 'object'],
  ['usage.completion_tokens_details.text_tokens', 'integer'],
  ['usage.completion_tokens_details.audio_tokens', 'integer'],
  ['usage.completion_tokens_details.reasoning_tokens', 'integer'],
];

const COUNTS: Reply['members'] = [
  ['usage.prompt_tokens', 'integer'],
  ['usage.completion_tokens', 'integer'],
  ['usage.total_tokens', 'integer'],
];

const REPLIES: readonly Reply[] = [
  {
    what: 'chat completion',
    sent: sample('chat'),
    members: [
      ['id', 'string'],
      ['object', 'string', 'chat.completion'],
      ['created', 'integer'],
      ['model', 'string', 'sandbox-chat'],
      ['choices', 'array'],
      ['choices.[].index', 'integer', 0],
      ['choices.[].message', 'object'],
      ['choices.[].message.role', 'string', 'assistant'],
      ['choices.[].message.content', 'string'],
      ['choices.[].finish_reason', 'string', 'stop'],
      ...USAGE,
    ],
  },
  {
    what: 'chat completion that calls a tool',
    sent: sample('chat', { tools: [FUNCTION], tool_choice: 'required' }),
    members: [
      ['choices.[].finish_reason', 'string', 'tool_calls'],
      ['choices.[].message.tool_calls', 'array'],
      ['choices.[].message.tool_calls.[].id', 'string'],
      ['choices.[].message.tool_calls.[].type', 'string', 'function'],
      ['choices.[].message.tool_calls.[].function.name', 'string', 'look'],
      ['choices.[].message.tool_calls.[].function.arguments', 'string'],
    ],
  },
  {
    what: 'chat completion of a model that thinks',
    sent: sample('chat', { reasoning_effort: 'high' }, 'sandbox-reasoner'),
    members: [
      ['choices.[].message.reasoning_content', 'string'],
      ['usage.completion_tokens_details.reasoning_tokens', 'integer'],
    ],
  },
  {
    what: 'message',
    sent: sample('messages'),
    members: [
      ['id', 'string'],
      ['type', 'string', 'message'],
      ['role', 'string', 'assistant'],
      ['content', 'array'],
      ['content.[].type', 'string', 'text'],
      ['content.[].text', 'string'],
      ['model', 'string', 'sandbox-chat'],
      ['stop_reason', 'string', 'end_turn'],
      ['usage', 'object'],
      ['usage.input_tokens', 'integer'],
      ['usage.output_tokens', 'integer'],
      ['usage.cache_creation_input_tokens', 'integer'],
      ['usage.cache_read_input_tokens', 'integer'],
    ],
  },
  {
    what: 'Responses object',
    sent: sample('responses'),
    members: [
      ['id', 'string'],
      ['object', 'string', 'response'],
      ['created_at', 'integer'],
      ['status', 'string', 'completed'],
      ['model', 'string', 'sandbox-chat'],
      ['output', 'array'],
      ['output.[].type', 'string', 'message'],
      ['output.[].id', 'string'],
      ['output.[].status', 'string', 'completed'],
      ['output.[].role', 'string', 'assistant'],
      ['output.[].content', 'array'],
      ['output.[].content.[].type', 'string', 'output_text'],
      ['output.[].content.[].text', 'string'],
      ...USAGE,
    ],
  },
  {
    what: 'text completion',
    sent: sample('completions'),
    members: [
      ['id', 'string'],
      ['object', 'string', 'text_completion'],
      ['created', 'integer'],
      ['model', 'string', 'sandbox-chat'],
      ['choices', 'array'],
      ['choices.[].text', 'string'],
      ['choices.[].index', 'integer', 0],
      ['choices.[].finish_reason', 'string', 'stop'],
      ...USAGE,
    ],
  },
  {
    what: 'generateContent reply',
    sent: sample('generate'),
    members: [
      ['candidates', 'array'],
      ['candidates.[].content', 'object'],
      ['candidates.[].content.role', 'string', 'model'],
      ['candidates.[].content.parts', 'array'],
      ['candidates.[].content.parts.[].text', 'string'],
      ['candidates.[].finishReason', 'string', 'STOP'],
      ['usageMetadata', 'object'],
      ['usageMetadata.promptTokenCount', 'integer'],
      ['usageMetadata.candidatesTokenCount', 'integer'],
      ['usageMetadata.totalTokenCount', 'integer'],
    ],
  },
  {
    what: 'chat-style image',
    sent: sample('chat', { stream: false, contents: [], extra_body: {} }, 'sandbox-image'),
    members: [
      ['id', 'string'],
      ['model', 'string', 'sandbox-image'],
      ['object', 'string'],
      ['created', 'integer'],
      ['choices', 'array'],
      ['choices.[].index', 'integer', 0],
      ['choices.[].message.role', 'string', 'assistant'],
      ['choices.[].message.content', 'string'],
      ['choices.[].finish_reason', 'string'],
      ...COUNTS,
    ],
  },
  {
    what: 'image, requested in the flat shape',
    sent: sample('images', { size: '1024x1024', n: 1 }),
    members: [
      ['created', 'integer'],
      ['data', 'array'],
      ['data.[].b64_json', 'string'],
    ],
  },
  {
    what: 'image, requested in the nested shape',
    sent: sample('images', {
      prompt: undefined,
      input: { messages: [{ role: 'user', content: [{ text: 'A house' }] }] },
      parameters: {},
    }),
    members: [
      ['created', 'integer'],
      ['data', 'array'],
      ['data.[].b64_json', 'string'],
    ],
  },
  {
    what: 'image, requested as a URL',
    sent: sample('images', { response_format: 'url' }),
    members: [['data.[].url', 'string']],
  },
  {
    what: 'list of embeddings',
    sent: sample('embeddings'),
    members: [
      ['object', 'string', 'list'],
      ['data', 'array'],
      ['data.[].object', 'string', 'embedding'],
      ['data.[].index', 'integer', 0],
      ['data.[].embedding', 'array'],
      ['data.[].embedding.[]', 'number'],
      ['model', 'string', 'sandbox-embed'],
      ['usage.prompt_tokens', 'integer'],
      ['usage.total_tokens', 'integer'],
    ],
  },
  {
    what: 'ranking',
    sent: sample('rerank', { return_documents: true }),
    members: [
      ['id', 'string'],
      ['results', 'array'],
      ['results.[].index', 'integer'],
      ['results.[].relevance_score', 'number'],
      ['results.[].document', 'object'],
      ['meta', 'object'],
    ],
  },
  {
    what: 'list of models',
    sent: { method: 'GET', path: '/v1/models' },
    members: [
      ['object', 'string', 'list'],
      ['data', 'array'],
      ['data.[].id', 'string'],
      ['data.[].object', 'string', 'model'],
      ['data.[].created', 'integer'],
      ['data.[].owned_by', 'string'],
    ],
  },
];

export function at(reply: Any, path: string): unknown {
  return path.split('.').reduce((value, step) => (step === '[]' ? value?.[0] : value?.[step]), reply);
}

/** One request provides the reply for all its members. */
const replies = new WeakMap<World, Map<Reply, Promise<Any>>>();

function replyTo(world: World, reply: Reply): Promise<Any> {
  const known = replies.get(world) ?? new Map<Reply, Promise<Any>>();
  replies.set(world, known);
  const asking = known.get(reply) ?? replyOf(world, reply.sent);
  known.set(reply, asking);
  return asking;
}

export const REPLY_RULES: readonly Rule[] = REPLIES.flatMap((reply) =>
  reply.members.map(([path, kind, constant]) =>
    rule(`a ${reply.what} has \`${path}\`: ${kind}${constant === undefined ? '' : ` ${constant}`}`, async (world) => {
      const value = at(await replyTo(world, reply), path);
      expectKind(value, kind);
      if (constant !== undefined) expect(value).toBe(constant as never);
    }),
  ),
);
