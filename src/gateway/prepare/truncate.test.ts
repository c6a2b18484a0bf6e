import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import type { ChatCall, Message } from '../../canonical/call.ts';
import type { Model } from '../../catalog/catalog.ts';
import { estimateInputTokens } from '../../dialects/chat/request/estimate-input.ts';
import { fitted } from './truncate.ts';

const text = (role: Message['role'], words: string): Message => ({ role, parts: [{ type: 'text', text: words }] });
const LONG = 'word '.repeat(300);
const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  parts: ids.map((id) => ({ type: 'tool-call', id, name: 'weather', input: JSON.stringify({ city: LONG }) })),
});
const result = (callId: string): Message => ({
  role: 'tool',
  parts: [{ type: 'tool-result', callId, parts: [{ type: 'text', text: LONG }], failed: false }],
});

const model = (contextTokens: number | undefined) => ({ contextTokens, maxOutputTokens: 100 }) as Model;
const thread = (truncation: 'auto' | 'disabled') => ({ store: true, references: [], items: [], truncation });
const callOf = (messages: Message[], truncation: 'auto' | 'disabled' = 'auto'): ChatCall => ({
  ...chatCall({ messages }),
  thread: thread(truncation),
});

const idsIn = (messages: readonly Message[], type: 'tool-call' | 'tool-result') =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      if (part.type === 'tool-call' && type === part.type) return part.id;
      return part.type === 'tool-result' && type === part.type ? part.callId : [];
    }),
  );

describe('a conversation within its window', () => {
  test.each([model(undefined), model(1_000_000)])('is left as it is', (wide) => {
    const call = callOf([text('user', LONG)]);
    expect(fitted(call, wide)).toBe(call);
  });

  test('of a format without truncation is unchanged', () => {
    const call = chatCall({ messages: [text('user', LONG)] });
    expect(fitted(call, model(10))).toBe(call);
  });
});

test('the oldest turns go first; instructions and the last question stay', () => {
  const messages = [
    text('system', 'Be brief.'),
    text('user', `first ${LONG}`),
    text('assistant', `answer ${LONG}`),
    text('user', `second ${LONG}`),
    text('assistant', `answer ${LONG}`),
    text('user', 'last'),
  ];
  const call = callOf(messages);
  const window = Math.ceil(estimateInputTokens(call) * 0.75) + 100;
  const shorter = fitted(call, model(window));
  expect(shorter.messages).toEqual([messages[0], messages[3], messages[4], messages[5]] as Message[]);
  expect(shorter.isEdited).toBe(true);
  expect(fitted(call, model(100)).messages).toEqual([messages[0], messages[5]] as Message[]);
});

test('no result is without its call, and no call without its result', () => {
  const messages = [
    text('user', 'Weather?'),
    calls('a', 'b'),
    result('a'),
    result('b'),
    calls('c'),
    text('user', 'Go on'),
    // Far from its call.
    result('c'),
    calls('d'),
    result('d'),
  ];
  const call = callOf(messages);
  for (let window = 50; window < estimateInputTokens(call) * 1.5; window += 97) {
    const { messages: left } = fitted(call, model(window));
    expect(new Set(idsIn(left, 'tool-result'))).toEqual(new Set(idsIn(left, 'tool-call')));
    expect(left.at(-1)).toEqual(result('d'));
    expect(left.some(({ role }) => role === 'user')).toBe(true);
    expect(left[0]?.role).toBe('user');
  }
});

test('without truncation a conversation that is too long is refused with OpenAI’s code', () => {
  const call = callOf([text('user', LONG)], 'disabled');
  const tokens = estimateInputTokens(call);
  expect(fitted(call, model(tokens))).toBe(call);
  const refused = expect.objectContaining({ status: 400, param: 'input', providerCode: 'context_length_exceeded' });
  expect(() => fitted(call, model(Math.floor(tokens / 2)))).toThrow(refused);
});
