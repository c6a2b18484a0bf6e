/** What is found in a plain reply is what the full reader finds, and any doubt is the full reader's. */
import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { fc } from '../../../../test/helpers/property.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame } from '../../dialect.ts';
import { boundedReader } from '../../shared/bounded-reader.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { replaceMember } from '../../wire/json.ts';
import { openaiChat } from './openai-chat.ts';
import { plainReply } from './plain-reply.ts';

const USAGE = { prompt_tokens: 21, completion_tokens: 9, total_tokens: 30 };
const MESSAGE = { role: 'assistant', content: 'Hi', refusal: null, annotations: [] };
const CHOICE = { index: 0, message: MESSAGE, logprobs: null, finish_reason: 'stop' };
const REPLY = { id: 'r1', object: 'chat.completion', created: 1, model: 'up', choices: [CHOICE], usage: USAGE };

const plainText = JSON.stringify(REPLY);

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const origin = { dialect: 'openai-chat', body: new Uint8Array() };
const call = () => chatCall({ model: 'asked "here"', messages: [], stream: false, origin });

function fullFrameOf(bytes: Uint8Array, quirks: Quirks): Frame | undefined {
  const reader = boundedReader(openaiChat.reader(call(), 'application/json', quirks), call(), { skippedEvents: 0 });
  return [...reader.read(bytes), ...reader.end()][0];
}

const isDecisive = ({ type }: ReplyEvent) => type === 'usage' || type === 'choice-end' || type === 'reply-end';

/** Both readers agree on what the call costs and on what the client gets. */
function expectAgreement(reply: string | Buffer, quirks: Quirks = {}): 'plain' | 'full' {
  const bytes = Buffer.from(reply);
  const plain = plainReply(bytes, quirks);
  if (!plain) return 'full';
  const full = fullFrameOf(bytes, quirks)!;
  const { usage, finish, model } = plain;
  const means: ReplyEvent[] = [
    { type: 'choice-end', choice: 0, finish: { reason: finish, raw: finish } },
    { type: 'reply-end' },
    { type: 'usage', usage },
  ];
  expect([...full.events].filter(isDecisive).toSorted((a, b) => a.type.localeCompare(b.type))).toEqual(means);
  expect(full.events.some(({ type }) => type === 'error')).toBe(false);
  const named = model === call().model ? bytes : replaceMember(bytes, 'model', call().model);
  const sent = textOf(named);
  expect(sent).toBe(textOf(openaiChat.writer(call()).pass(full)));
  // Of two members of one name the client's parser takes the last.
  expect(JSON.parse(sent.replace(/^\uFEFF/, '')).model).toBe(call().model);
  return 'plain';
}

test('a plain reply is recognised in the forms that providers send', () => {
  expect(expectAgreement(JSON.stringify(REPLY))).toBe('plain');
  expect(expectAgreement(JSON.stringify(REPLY, null, 2))).toBe('plain');
  const cut = { ...REPLY, choices: [{ ...CHOICE, finish_reason: 'length' }], service_tier: 'default', error: null };
  expect(expectAgreement(`\n ${JSON.stringify(cut)}\n`)).toBe('plain');
  const spare = { ...MESSAGE, content: 'ü "\\\n\u0001 𝄞', tool_calls: [], reasoning_content: '', audio: null };
  const details = { prompt_tokens_details: { cached_tokens: 4 }, completion_tokens_details: { reasoning_tokens: 2 } };
  const rich = { ...REPLY, choices: [{ ...CHOICE, message: spare }], usage: { ...USAGE, ...details } };
  expect(expectAgreement(JSON.stringify(rich))).toBe('plain');
});

test.each<[string, string]>([
  ['a second usage', plainText.replace('"id"', '"usage":{"prompt_tokens":1},"id"')],
  ['a second model', plainText.replace('"id"', '"model":"other","id"')],
  ['a second content', plainText.replace('"role"', '"content":"","role"')],
  ['names with an escape', plainText.replace('"usage"', '"us\\u0061ge"').replace('"model"', '"mod\\u0065l"')],
  ['a byte order mark', `\uFEFF${plainText}`],
])('both readers take the same of %s', (_, text) => {
  expect(expectAgreement(text)).toBe('plain');
});

const changed = (choice: JsonObject) => JSON.stringify({ ...REPLY, choices: [{ ...CHOICE, ...choice }] });
const saying = (message: JsonObject) => changed({ message: { ...MESSAGE, ...message } });
const withUsage = (usage: JsonObject | null) => JSON.stringify({ ...REPLY, usage });

describe('a doubt is the full reader’s', () => {
  test.each<[string, string]>([
    ['tool calls', saying({ tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] })],
    ['reasoning', saying({ reasoning_content: 'Hm.' })],
    ['a refusal', saying({ refusal: 'No.' })],
    ['no text', saying({ content: null })],
    ['a list of content', saying({ content: [{ type: 'text', text: 'Hi' }] })],
    ['another role', saying({ role: '' })],
    ['logprobs', changed({ logprobs: { content: [{ token: 'Hi', logprob: 0 }] } })],
    ['a stop sequence', changed({ stop_reason: 'END' })],
    ['another finish reason', changed({ finish_reason: 'content_filter' })],
    ['no finish reason', changed({ finish_reason: null })],
    ['another index', changed({ index: 1 })],
    ['an index below zero', plainText.replace('"index":0', '"index":-0')],
    ['no index', changed({ index: null })],
    ['two choices', JSON.stringify({ ...REPLY, choices: [CHOICE, { ...CHOICE, index: 1 }] })],
    ['an error', JSON.stringify({ ...REPLY, error: { message: 'no' } })],
    ['an error as text', JSON.stringify({ ...REPLY, error: 'no' })],
    ['sources', JSON.stringify({ ...REPLY, citations: ['http://a.test'] })],
    ['a time that is none', JSON.stringify({ ...REPLY, created: 1e12 })],
    ['a time before all', JSON.stringify({ ...REPLY, created: -1 })],
    ['no model', JSON.stringify({ ...REPLY, model: null })],
    ['no usage', withUsage(null)],
    ['a usage of zero', withUsage({ prompt_tokens: 0, completion_tokens: 0 })],
    ['unusable figures', withUsage({ ...USAGE, prompt_tokens: -1 })],
    ['figures that are text', withUsage({ ...USAGE, completion_tokens: '9' })],
    ['usage beside the end of the object', plainText.replace('}}', '}}}')],
    ['a cut reply', plainText.slice(0, -1)],
    ['a broken escape', plainText.replace('"Hi"', '"\\x"')],
    ['a control character', plainText.replace('"Hi"', '"\u0001"')],
    ['a number with a leading zero', plainText.replace('"created":1', '"created":01')],
    ['a comma too many', plainText.replace('"created":1', '"created":1,')],
    ['another kind of value', '[]'],
    ['nothing', ''],
  ])('%s', (_, text) => {
    expect(plainReply(Buffer.from(text), {})).toBeUndefined();
  });

  test('quirks that change the figures', () => {
    const text = withUsage({ ...USAGE, total_tokens: 50 });
    expect(plainReply(Buffer.from(text), {})).toBeDefined();
    expect(plainReply(Buffer.from(text), { returnsReasoningInTotal: true })).toBeUndefined();
  });
});

/** Mostly the usual value: a reply with several unusual ones is never plain. */
const often = <T>(usual: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });

test('for any reply both readers agree', () => {
  const scalar = fc.constantFrom<JsonObject[string]>(null, '', 'x', 0, 1, -1.5, 1e12, 1e21, true, [], {}, ['a'], {
    a: 1,
  });
  const count = often(7, fc.constantFrom<JsonObject[string]>(0, 1, 12, -1, 1.5, '3', null, 2 ** 60));
  const extra = (names: string[]) => often({}, fc.dictionary(fc.constantFrom(...names), scalar, { maxKeys: 2 }));
  const message = fc.record({
    content: fc.oneof({ weight: 6, arbitrary: fc.string({ unit: 'binary' }) }, { weight: 1, arbitrary: scalar }),
    more: extra(MESSAGE_NAMES),
  });
  const choice = fc.record({
    message,
    more: extra(CHOICE_NAMES),
    finish: often('stop', fc.constantFrom('length', '', null)),
  });
  const usage = fc.record({ prompt_tokens: count, completion_tokens: count, more: extra(USAGE_NAMES), total: count });
  const reply = fc.record({ choice, usage, more: extra(REPLY_NAMES), indent: fc.constantFrom(0, 1) });
  let plain = 0;
  fc.assert(
    fc.property(reply, fc.boolean(), ({ choice, usage, more, indent }, inTotal) => {
      const { more: moreUsage, total, ...figures } = usage;
      const body = {
        ...REPLY,
        ...more,
        choices: [
          {
            ...CHOICE,
            finish_reason: choice.finish,
            message: { ...MESSAGE, content: choice.message.content, ...choice.message.more },
            ...choice.more,
          },
        ],
        usage: { ...figures, total_tokens: total, ...moreUsage },
      };
      const quirks: Quirks = inTotal ? { returnsReasoningInTotal: true } : {};
      if (expectAgreement(JSON.stringify(body, null, indent), quirks) === 'plain') plain++;
    }),
    { numRuns: 300 },
  );
  expect(plain).toBeGreaterThan(20);
});

const MESSAGE_NAMES = [
  'refusal',
  'annotations',
  'tool_calls',
  'reasoning',
  'reasoning_details',
  'audio',
  'images',
  'role',
];
const CHOICE_NAMES = ['index', 'logprobs', 'stop_reason', 'delta', 'usage', 'content_filter_results', 'text'];
const USAGE_NAMES = [
  'prompt_tokens_details',
  'completion_tokens_details',
  'cached_tokens',
  'num_search_queries',
  'cost',
];
const REPLY_NAMES = [
  'id',
  'created',
  'model',
  'error',
  'x_groq',
  'citations',
  'search_results',
  'service_tier',
  'moderation',
];

test('for any damage to the bytes the full reader decides, or agrees', () => {
  const bytes = Buffer.from(JSON.stringify(REPLY));
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.nat(255), fc.constantFrom('set', 'cut', 'insert'), (at, byte, how) => {
      const rest = bytes.subarray(how === 'insert' ? at : at + 1);
      const damaged = Buffer.concat([bytes.subarray(0, at), Buffer.from(how === 'cut' ? [] : [byte]), rest]);
      expectAgreement(damaged);
    }),
    { numRuns: 1500 },
  );
});
