/** What counts as a conversation of texts alone, and that a changed call no longer does. */
import { expect, test } from 'bun:test';
import { fc } from '../../../../test/helpers/property.ts';
import { isTextOnly } from '../../../canonical/text-only.ts';
import { type Quirks, quirksOf } from '../../shared/quirks.ts';
import { passCall } from './adjust.ts';
import { openaiChat } from './openai-chat.ts';

const USER = { role: 'user', content: 'Hi' };
const ANSWER = { role: 'assistant', content: 'Hello' };
const IMAGE = '![image](data:image/png;base64,iVBORw0KGgo=)';

function read(more: object) {
  const body = Buffer.from(
    JSON.stringify({ model: 'm', messages: [{ role: 'system', content: 'Be brief.' }, USER], ...more }),
  );
  return openaiChat.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
}

test('texts of the user and the system, with settings', () => {
  expect(isTextOnly(read({ temperature: 1, max_tokens: 5, stream: true, n: 1, user: 'u' }))).toBe(true);
});

test('texts of the model between those of the user', () => {
  expect(isTextOnly(read({ messages: [USER, ANSWER, USER, ANSWER, USER] }))).toBe(true);
});

const QUIRKS: readonly Quirks[] = [
  {},
  { supportsDeveloperRole: false, supportsFreeTextTools: false },
  { rejectsInMessages: ['name', 'refusal', 'annotations', 'reasoning_content'] },
  { requiresToolCallIds: 'nine-alphanumeric' },
  { reasoningField: 'reasoning_content', supportsPrefill: 'last' },
  { rejects: ['temperature'], fixed: { top_p: 1 }, renames: { max_tokens: 'max_completion_tokens' } },
];

const turn = fc.record({
  role: fc.constantFrom('user', 'system', 'assistant'),
  content: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', ' ', '![image](', '](data:', '"}')),
});

const sent = fc.record(
  {
    stream: fc.boolean(),
    temperature: fc.constant(1),
    max_tokens: fc.constant(5),
    response_format: fc.constant({ type: 'json_object' }),
  },
  { requiredKeys: [] },
);

test('a name that is sent twice is written once', () => {
  const body = Buffer.from('{"model":"first","messages":[{"role":"user","content":"Hi"}],"model":"m"}');
  const call = openaiChat.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
  for (const model of ['other', 'm'])
    expect(Buffer.from(passCall(call, model, {}).body).toString()).toBe(
      `{"messages":[{"role":"user","content":"Hi"}],"model":"${model}"}`,
    );
});

test('what is recognised as texts is read and sent as if it were looked through', () => {
  fc.assert(
    fc.property(
      fc.array(turn, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(...QUIRKS),
      sent,
      (messages, row, more) => {
        const call = read({ messages, ...more });
        expect(isTextOnly(call)).toBe(true);
        const inParts = messages.map(({ role, content }) => ({ role, content: [{ type: 'text', text: content }] }));
        expect(call.messages).toEqual(read({ messages: inParts, ...more }).messages);
        const searched = { ...call, messages: [...call.messages] };
        expect(isTextOnly(searched)).toBe(false);
        for (const model of ['other', 'm']) {
          const quirks = quirksOf(row, model);
          const [one, other] = [passCall(call, model, quirks), passCall(searched, model, quirks)];
          expect(Buffer.from(one.body).toString()).toBe(Buffer.from(other.body).toString());
          expect(one.warnings).toEqual(other.warnings);
        }
      },
    ),
  );
});

test.each<[string, object]>([
  ['an answer with a refusal', { messages: [USER, { ...ANSWER, refusal: null }, USER] }],
  ['an answer with tool calls', { messages: [USER, { ...ANSWER, tool_calls: [] }, USER] }],
  ['an answer with reasoning', { messages: [USER, { ...ANSWER, reasoning_content: 'Hm.' }, USER] }],
  ['an answer with an image', { messages: [USER, { ...ANSWER, content: IMAGE }, USER] }],
  ['an answer without text', { messages: [USER, { ...ANSWER, content: null }, USER] }],
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
