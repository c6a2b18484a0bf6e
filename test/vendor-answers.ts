/** The same reply as each vendor writes it, whole and streamed, for tests of every format before every vendor. */
import type { Answer } from './upstream/answer.ts';

/** What a model says; `USED` tokens, whatever it is. */
export interface Said {
  thought?: string;
  texts?: readonly string[];
  calls?: readonly { id: string; name: string; args: object }[];
}

export interface Vendor {
  /** The row of the providers table. */
  type: string;
  upstreamModel: string;
  whole(said: Said): Answer;
  stream(said: Said): Answer;
  error(status: number, message: string): Answer;
}

export type VendorName = 'chat' | 'messages' | 'gemini' | 'responses';

/** A proof that only its own vendor takes back. */
export const SEAL = 'c2VhbGVkLWJ5LXRoZS12ZW5kb3I=';

const openaiError = (status: number, message: string): Answer => ({
  status,
  json: { error: { message, type: 'invalid_request_error', param: null, code: 'vendor_code' } },
});

const textOf = ({ texts = [] }: Said) => texts.join('');
const chatCalls = ({ calls = [] }: Said) =>
  calls.map(({ id, name, args }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }));

const CHAT_USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const CHAT_BASE = { id: 'chatcmpl-upstream', created: 1_790_000_000, model: 'upstream-model' };

const chat: Vendor = {
  type: 'openai-compatible',
  upstreamModel: 'upstream-model',
  whole(said) {
    const calls = chatCalls(said);
    const message = {
      role: 'assistant',
      content: said.texts ? textOf(said) : null,
      ...(said.thought !== undefined && { reasoning_content: said.thought }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const choices = [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }];
    return { json: { ...CHAT_BASE, object: 'chat.completion', choices, usage: CHAT_USAGE } };
  },
  stream(said) {
    const event = (delta: object, finish: string | null = null) => ({
      ...CHAT_BASE,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const calls = chatCalls(said);
    const events = [
      event({ role: 'assistant', content: '' }),
      ...(said.thought === undefined ? [] : [event({ reasoning_content: said.thought })]),
      ...(said.texts ?? []).map((content) => event({ content })),
      ...calls.flatMap((call, index) => {
        const text = call.function.arguments;
        const first = { ...call, index, function: { ...call.function, arguments: text.slice(0, 4) } };
        return [
          event({ tool_calls: [first] }),
          event({ tool_calls: [{ index, function: { arguments: text.slice(4) } }] }),
        ];
      }),
      event({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      { ...CHAT_BASE, object: 'chat.completion.chunk', choices: [], usage: CHAT_USAGE },
    ];
    return { events };
  },
  error: openaiError,
};

const messageBlocks = ({ thought, texts, calls = [] }: Said) => [
  ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: SEAL }]),
  ...(texts ? [{ type: 'text', text: texts.join('') }] : []),
  ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
];
const stopReason = ({ calls = [] }: Said) => (calls.length > 0 ? 'tool_use' : 'end_turn');
const MESSAGE = { id: 'msg_upstream', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' };

const messages: Vendor = {
  type: 'anthropic',
  upstreamModel: 'claude-sonnet-4-5',
  whole: (said) => ({
    json: {
      ...MESSAGE,
      content: messageBlocks(said),
      stop_reason: stopReason(said),
      stop_sequence: null,
      usage: { input_tokens: 11, output_tokens: 7 },
    },
  }),
  stream(said) {
    const event = (payload: { type: string; [member: string]: unknown }) =>
      `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;
    const block = (index: number, opens: object, deltas: readonly object[]) => [
      event({ type: 'content_block_start', index, content_block: opens }),
      ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
      event({ type: 'content_block_stop', index }),
    ];
    const blocks: [object, object[]][] = [];
    if (said.thought !== undefined) {
      const deltas = [
        { type: 'thinking_delta', thinking: said.thought },
        { type: 'signature_delta', signature: SEAL },
      ];
      blocks.push([{ type: 'thinking', thinking: '', signature: '' }, deltas]);
    }
    if (said.texts) {
      blocks.push([{ type: 'text', text: '' }, said.texts.map((text) => ({ type: 'text_delta', text }))]);
    }
    for (const { id, name, args } of said.calls ?? []) {
      const text = JSON.stringify(args);
      const deltas = [text.slice(0, 4), text.slice(4)].map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      }));
      blocks.push([{ type: 'tool_use', id, name, input: {} }, deltas]);
    }
    const start = { ...MESSAGE, content: [], stop_reason: null, usage: { input_tokens: 11, output_tokens: 1 } };
    const delta = { stop_reason: stopReason(said), stop_sequence: null };
    const events = [
      event({ type: 'message_start', message: start }),
      ...blocks.flatMap(([opens, deltas], index) => block(index, opens, deltas)),
      event({ type: 'message_delta', delta, usage: { output_tokens: 7 } }),
      event({ type: 'message_stop' }),
    ];
    return { events, withoutTerminator: true };
  },
  error: (status, message) => ({
    status,
    json: { type: 'error', error: { type: status < 500 ? 'invalid_request_error' : 'api_error', message } },
  }),
};

const GEMINI_BASE = { modelVersion: 'gemini-2.5-flash', responseId: 'upstream' };
const geminiAnswer = (parts: readonly object[], last = true) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(last && { finishReason: 'STOP' }) }],
  usageMetadata: { promptTokenCount: 11, candidatesTokenCount: last ? 7 : 1, totalTokenCount: last ? 18 : 12 },
  ...GEMINI_BASE,
});
const geminiParts = ({ thought, texts = [], calls = [] }: Said) => [
  ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
  ...texts.map((text) => ({ text })),
  ...calls.map(({ id, name, args }) => ({
    functionCall: { id, name, args },
    ...(thought !== undefined && { thoughtSignature: SEAL }),
  })),
];

const gemini: Vendor = {
  type: 'google',
  upstreamModel: 'gemini-2.5-flash',
  whole: (said) => ({ json: geminiAnswer(geminiParts(said)) }),
  stream(said) {
    const parts = geminiParts(said);
    const events = parts.map((part, index) => {
      return `data: ${JSON.stringify(geminiAnswer([part], index === parts.length - 1))}\r\n\r\n`;
    });
    return { events, withoutTerminator: true };
  },
  error: (status, message) => ({
    status,
    json: { error: { code: status, message, status: status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL' } },
  }),
};

const RESPONSE_USAGE = {
  input_tokens: 11,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 18,
};
const responseOf = (status: string, output: readonly object[]) => ({
  id: 'resp_upstream',
  object: 'response',
  created_at: 1_790_000_000,
  status,
  model: 'gpt-6-astra',
  output,
  error: null,
  incomplete_details: null,
  parallel_tool_calls: true,
  tools: [],
  usage: status === 'completed' ? RESPONSE_USAGE : null,
});
const part = (text: string) => ({ type: 'output_text', text, annotations: [] });
const responseItems = ({ thought, texts, calls = [] }: Said) => [
  ...(thought === undefined
    ? []
    : [
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: thought }],
          encrypted_content: SEAL,
        },
      ]),
  ...(texts
    ? [{ type: 'message', id: 'item_1', role: 'assistant', status: 'completed', content: [part(texts.join(''))] }]
    : []),
  ...calls.map(({ id, name, args }, index) => ({
    type: 'function_call',
    id: `fc_${index}`,
    call_id: id,
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  })),
];

const responses: Vendor = {
  type: 'openai',
  // One that takes tools on Responses alone.
  upstreamModel: 'gpt-6-astra',
  whole: (said) => ({ json: responseOf('completed', responseItems(said)) }),
  stream(said) {
    let sequence = 0;
    const event = (type: string, members: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...members })}\n\n`;
    const items = responseItems(said);
    const events = [
      event('response.created', { response: responseOf('in_progress', []) }),
      ...items.flatMap((item, output_index) => {
        const at = { output_index, item_id: item.id };
        const inner: string[] = [];
        let opened: object = { ...item, status: 'in_progress' };
        if ('summary' in item) {
          opened = { ...item, summary: [] };
          const where = { ...at, summary_index: 0 };
          const text = said.thought ?? '';
          inner.push(
            event('response.reasoning_summary_part.added', { ...where, part: { type: 'summary_text', text: '' } }),
            event('response.reasoning_summary_text.delta', { ...where, delta: text }),
            event('response.reasoning_summary_text.done', { ...where, text }),
            event('response.reasoning_summary_part.done', { ...where, part: { type: 'summary_text', text } }),
          );
        } else if ('content' in item) {
          opened = { ...item, status: 'in_progress', content: [] };
          const where = { ...at, content_index: 0 };
          inner.push(
            event('response.content_part.added', { ...where, part: part('') }),
            ...(said.texts ?? []).map((delta) =>
              event('response.output_text.delta', { ...where, delta, logprobs: [] }),
            ),
            event('response.output_text.done', { ...where, text: textOf(said), logprobs: [] }),
            event('response.content_part.done', { ...where, part: part(textOf(said)) }),
          );
        } else {
          opened = { ...item, status: 'in_progress', arguments: '' };
          inner.push(
            event('response.function_call_arguments.delta', { ...at, delta: item.arguments }),
            event('response.function_call_arguments.done', { ...at, arguments: item.arguments }),
          );
        }
        return [
          event('response.output_item.added', { output_index, item: opened }),
          ...inner,
          event('response.output_item.done', { output_index, item }),
        ];
      }),
      event('response.completed', { response: responseOf('completed', items) }),
    ];
    return { events, withoutTerminator: true };
  },
  error: openaiError,
};

export const VENDORS: { readonly [name in VendorName]: Vendor } = { chat, messages, gemini, responses };
