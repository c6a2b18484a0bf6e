import { expect, test } from 'bun:test';
import { openaiChat } from '../../dialects/chat/openai-chat/openai-chat.ts';
import { boundCall } from './admit.ts';

const read = (members: object) =>
  openaiChat.readCall({
    body: Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'a' }], ...members })),
    headers: new Headers(),
    path: {},
    query: new URLSearchParams(),
  });
const message = { role: 'user', content: 'a' };
const parts = (count: number) => [{ role: 'user', content: Array(count).fill({ type: 'text', text: 'a' }) }];
const tools = (count: number) =>
  Array.from({ length: count }, (_, place) => ({ type: 'function', function: { name: `f${place}` } }));

test.each([
  [{ messages: Array(10_000).fill(message) }, { messages: Array(10_001).fill(message) }, '10001 messages'],
  [
    { messages: [...parts(10_000), ...parts(10_000)] },
    { messages: [...parts(10_000), ...parts(10_001)] },
    '20001 content parts',
  ],
  [{ tools: tools(2000) }, { tools: tools(2001) }, '2001 tools'],
])('what is within its bound passes, one more is refused: %#', (within, beyond, sentence) => {
  expect(() => boundCall(read(within))).not.toThrow();
  expect(() => boundCall(read(beyond))).toThrow(sentence);
});
