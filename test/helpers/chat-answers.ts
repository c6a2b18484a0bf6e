/** Fixed answers of an OpenAI-format upstream, for tests without recordings. */
import type { Answer } from '../upstream/answer.ts';

export const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
/** `USAGE` as tokens. */
export const USED = { input: 11, output: 7 };

const BASE = { id: 'chatcmpl-upstream', created: 1_790_000_000, model: 'upstream-model' };

/** A reply's body with these tokens. */
export const chatReply = (content: string, [input, output]: readonly [input: number, output: number]) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
});

/** A non-streaming response with `USAGE`. */
export function wholeAnswer(text: string, more: Answer = {}): Answer {
  const message = { role: 'assistant', content: text, refusal: null };
  const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }];
  return { json: { ...BASE, object: 'chat.completion', choices, usage: USAGE }, ...more };
}

/** A stream: an event with the role, one per text, one with the finish reason, one with `USAGE`, then `[DONE]`. */
export function streamAnswer(texts: readonly string[], more: Answer = {}): Answer {
  const chunk = (choices: unknown[], rest = {}) => ({ ...BASE, object: 'chat.completion.chunk', choices, ...rest });
  const delta = (value: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: value, logprobs: null, finish_reason: finish }], { usage: null });
  const events = [
    delta({ role: 'assistant', content: '' }),
    ...texts.map((content) => delta({ content })),
    delta({}, 'stop'),
    chunk([], { usage: USAGE }),
  ];
  return { events, ...more };
}

/** An error body in the OpenAI format. */
export function errorAnswer(status: number, message: string, more: Answer = {}): Answer {
  return { status, json: { error: { message, type: 'provider_type', param: null, code: 'provider_code' } }, ...more };
}

export function chatRequest(model: string, more: { [member: string]: unknown } = {}) {
  return { model, messages: [{ role: 'user', content: 'Say hello.' }], ...more };
}
