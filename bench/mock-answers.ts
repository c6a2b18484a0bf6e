/** The answers of the benchmark's upstream in each format: the same text, non-streaming or in chunks. */
import { MODEL, TIME_DIGITS, TIME_MARK } from './workload.ts';

/** Bytes of HTTP, ready to send. */
export interface Answers {
  whole: Buffer;
  /** A stream's head and everything before its text. */
  begin: string;
  /** A chunk that contains the time at which it was sent. */
  timed(now: number): string;
  end(wantsUsage: boolean): string;
}

const CONTENT = 'The northern way is shorter: nine minutes against twelve, by the town map of last year.';
const NO_TIME = '0'.repeat(TIME_DIGITS);
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n' +
  'x-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

function wholeReply(reply: object): Buffer {
  const body = JSON.stringify(reply);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

/** Text as one HTTP chunk. */
function httpChunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** Inserts the time into a prepared chunk. */
function timing(chunk: string): (now: number) => string {
  const [before = '', after = ''] = chunk.split(NO_TIME);
  return (now) => before + now + after;
}

const CHAT_USAGE = {
  prompt_tokens: 210,
  completion_tokens: 24,
  total_tokens: 234,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};
const ABOUT = { created: 1_760_000_000, model: MODEL, service_tier: 'default', system_fingerprint: 'fp_44709d6fcb' };

const chatEvent = (data: string): string => httpChunk(`data: ${data}\n\n`);

function chatChunk(delta: object, finish: string | null, usage?: object): string {
  const choices = usage ? [] : [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return chatEvent(
    JSON.stringify({
      id: 'chatcmpl-bench',
      object: 'chat.completion.chunk',
      ...ABOUT,
      choices,
      ...(usage && { usage }),
    }),
  );
}

const timedChat = timing(chatChunk({ content: `at ${NO_TIME}` }, null));
if (!timedChat(1).includes(TIME_MARK)) throw new Error('the time mark is not where the load generator looks for it');

export const CHAT_ANSWERS: Answers = {
  whole: wholeReply({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    ...ABOUT,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: CONTENT, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: CHAT_USAGE,
  }),
  begin: STREAM_HEAD + chatChunk({ role: 'assistant', content: '', refusal: null }, null),
  timed: timedChat,
  end(wantsUsage) {
    const usage = wantsUsage ? chatChunk({}, null, CHAT_USAGE) : '';
    return chatChunk({}, 'stop') + usage + chatEvent('[DONE]') + LAST_CHUNK;
  },
};

const MESSAGES_USAGE = {
  input_tokens: 210,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 24,
  service_tier: 'standard',
};
const MESSAGE = {
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: MODEL,
  stop_reason: null,
  stop_sequence: null,
  usage: MESSAGES_USAGE,
};

function messagesEvent(payload: { type: string; [member: string]: unknown }): string {
  return httpChunk(`event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`);
}

export const MESSAGES_ANSWERS: Answers = {
  whole: wholeReply({ ...MESSAGE, content: [{ type: 'text', text: CONTENT }], stop_reason: 'end_turn' }),
  begin:
    STREAM_HEAD +
    messagesEvent({ type: 'message_start', message: { ...MESSAGE, content: [] } }) +
    messagesEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  timed: timing(
    messagesEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `at ${NO_TIME}` } }),
  ),
  end: () =>
    messagesEvent({ type: 'content_block_stop', index: 0 }) +
    messagesEvent({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: MESSAGES_USAGE,
    }) +
    messagesEvent({ type: 'message_stop' }) +
    LAST_CHUNK,
};
