/** What counts as a conversation of texts alone, and that a changed call no longer does. */
import { expect, test } from 'bun:test';
import { isTextOnly } from '../../../canonical/text-only.ts';
import { openaiChat } from './openai-chat.ts';

const USER = { role: 'user', content: 'Hi' };

function read(more: object) {
  const body = Buffer.from(
    JSON.stringify({ model: 'm', messages: [{ role: 'system', content: 'Be brief.' }, USER], ...more }),
  );
  return openaiChat.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
}

test('texts of the user and the system, with settings', () => {
  expect(isTextOnly(read({ temperature: 1, max_tokens: 5, stream: true, n: 1, user: 'u' }))).toBe(true);
});

test.each<[string, object]>([
  ['an answer of the model', { messages: [USER, { role: 'assistant', content: 'Hello' }, USER] }],
  ['the role developer', { messages: [{ role: 'developer', content: 'Be brief.' }, USER] }],
  ['a name', { messages: [{ ...USER, name: 'Ann' }] }],
  ['a cache mark', { messages: [{ ...USER, cache_control: { type: 'ephemeral' } }] }],
  ['a list of parts', { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] }],
  ['contents beside the messages', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
  ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }],
  ['a search', { web_search_options: {} }],
  ['several choices', { n: 2 }],
])('not with %s', (_, more) => {
  expect(isTextOnly(read(more))).toBe(false);
});

test('not with other messages than those that were read', () => {
  const call = read({});
  expect(isTextOnly({ ...call, model: 'other' })).toBe(true);
  expect(isTextOnly({ ...call, messages: [...call.messages] })).toBe(false);
  expect(isTextOnly({ ...call, tools: [{ type: 'function', name: 'f' }] })).toBe(false);
  expect(isTextOnly({ ...call, sampling: { n: 2 } })).toBe(false);
});
