/** A short question in any chat format, and what its client reads of the answer. */
import { expect } from 'bun:test';
import type { ReplyEvent } from '../../src/canonical/reply.ts';
import { dialectNamed } from '../../src/dialects/index.ts';
import { replyOf } from '../conformance/dialect-laws.ts';
import { chatCall } from '../helpers/chat-call.ts';
import type { Scene, Stage } from '../helpers/scene.ts';

export const FORMATS = ['openai-chat', 'anthropic-messages', 'gemini', 'openai-responses'] as const;
type Format = (typeof FORMATS)[number];

/** A short question in this format, as a client of it sends it. */
export function questionOf({ model, caller }: Stage, format: Format, stream: boolean) {
  const messages = [{ role: 'user', content: 'Hello' }];
  const [path, body] = {
    'openai-chat': [
      '/v1/chat/completions',
      { model, stream, messages, stream_options: stream ? { include_usage: true } : undefined },
    ],
    'anthropic-messages': ['/v1/messages', { model, stream, messages, max_tokens: 4096 }],
    gemini: [
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    ],
    'openai-responses': ['/v1/responses', { model, stream, input: 'Hello' }],
  }[format] as [string, object];
  const headers = { authorization: `Bearer ${caller.key}`, 'anthropic-version': '2023-06-01' };
  return { path, headers, body: JSON.stringify(body) };
}

export function origin(scene: () => Scene) {
  return (stage: Stage, format: Format, stream: boolean): Promise<Response> => {
    const { path, headers, body } = questionOf(stage, format, stream);
    return fetch(scene().gateway.url + path, { method: 'POST', headers, body });
  };
}

/** The text and the calls that a client of this format reads. */
export async function readBack(format: Format, response: Response, stream: boolean) {
  const body = new Uint8Array(await response.arrayBuffer());
  expect(response.status).toBe(200);
  const dialect = dialectNamed(format);
  if (!dialect) throw new Error(`there is no ${format}`);
  const reader = dialect.reader(chatCall({ stream }), response.headers.get('content-type') ?? '', {});
  return contentOf([...reader.read(body), ...reader.end()].flatMap(({ events }) => events));
}

export function contentOf(events: readonly ReplyEvent[]) {
  const parts = replyOf(events).choices[0]?.parts ?? [];
  const text = parts.filter(({ opens }) => opens.type === 'text').map(({ content }) => content);
  const calls = parts.flatMap(({ opens, content }) =>
    opens.type === 'tool-call' ? [[opens.name, JSON.parse(content || '{}')]] : [],
  );
  return { text: text.join(''), calls };
}
