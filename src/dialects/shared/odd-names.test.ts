/** Words of providers that are names of what every object has. */
import { expect, test } from 'bun:test';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import { dialectNamed } from '../index.ts';
import { inCallerNames } from './caller-names.ts';
import { readErrorObject } from './openai-errors.ts';

const CHOICE = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'constructor' };
const PARTS = { role: 'model', parts: [{ text: 'Hi' }] };

test.each<[string, object]>([
  ['openai-chat', { choices: [CHOICE] }],
  ['openai-completions', { choices: [{ index: 0, text: 'Hi', finish_reason: 'constructor' }] }],
  [
    'anthropic-messages',
    { type: 'message', model: 'm', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'constructor', usage: {} },
  ],
  ['gemini', { candidates: [{ index: 0, content: PARTS, finishReason: 'constructor' }] }],
])('an unknown reason for the end of a reply is another one: %s', (name, reply) => {
  const reader = dialectNamed(name)!.reader(chatCall(), 'application/json', {});
  const frames = [...reader.read(Buffer.from(JSON.stringify(reply))), ...reader.end()];
  const ends = frames.flatMap(({ events }) => [...events]).filter(({ type }) => type === 'choice-end');
  expect(ends).toMatchObject([{ finish: { reason: 'other', raw: 'constructor' } }]);
});

test('an unknown type of error has the status of a failure', () => {
  expect(readErrorObject({ type: 'constructor', message: 'no' })).toMatchObject({
    code: 'upstream_failed',
    status: 502,
  });
});

test('a quoted word that is no member stays', () => {
  expect(inCallerNames('`constructor` and `max_tokens` are wrong.', 'gemini')).toBe(
    '`constructor` and `generationConfig.maxOutputTokens` are wrong.',
  );
});
