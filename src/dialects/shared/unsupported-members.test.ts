import { expect, test } from 'bun:test';
import { CONVERSING } from '../../../test/conformance/translate-replies.ts';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import { DIALECTS } from '../index.ts';
import { unsupportedMembers } from './unsupported-members.ts';

const EXTRAS = { 'openai-chat': { store: true, seed: null }, gemini: { labels: {} }, 'a-third': { x: null } };

test('members of another format are distinguished from absent ones', () => {
  const call = chatCall({ extras: EXTRAS });
  expect(unsupportedMembers(call, 'gemini')).toEqual([{ dialect: 'openai-chat', names: ['store'] }]);
  expect(unsupportedMembers(call, 'openai-chat')).toEqual([{ dialect: 'gemini', names: ['labels'] }]);
});

test('an empty list asks for nothing: LangChain always sends `safetySettings`', () => {
  const call = chatCall({ extras: { gemini: { safetySettings: [], labels: {} } } });
  expect(unsupportedMembers(call, 'openai-chat')).toEqual([{ dialect: 'gemini', names: ['labels'] }]);
});

test.each([
  ['openai-responses', 'previous_response_id'],
  ['openai-responses', 'conversation'],
  ['gemini', 'cachedContent'],
])('%s: %s is refused by every other format, by name', (dialect, member) => {
  const call = chatCall({ extras: { [dialect]: { [member]: 'an-id' } } });
  const others = CONVERSING.filter(({ name }) => name !== dialect);
  expect(others.length).toBeGreaterThan(3);
  for (const other of others) {
    expect(() => other.writeCall(call, 'a-model', {})).toThrow(`\`${member}\` refers to data`);
  }
  const own = DIALECTS.get(dialect)?.writeCall(call, 'a-model', {});
  expect(JSON.parse(Buffer.from(own?.body ?? []).toString())).toMatchObject({ [member]: 'an-id' });
});
