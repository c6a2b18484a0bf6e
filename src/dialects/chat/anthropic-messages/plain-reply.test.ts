/** What is taken from a message of one text is what the full reader finds, and any doubt is the full reader's. */
import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { fc } from '../../../../test/helpers/property.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import type { Frame } from '../../dialect.ts';
import { boundedReader } from '../../shared/bounded-reader.ts';
import { joinBytes, replaceMember } from '../../wire/json.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { plainReply } from './plain-reply.ts';

const USAGE = { input_tokens: 21, output_tokens: 9 };
const BLOCK = { type: 'text', text: 'Hi', citations: null };
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [BLOCK],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: USAGE,
};

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const origin = { dialect: 'anthropic-messages', body: new Uint8Array() };
const call = () => chatCall({ model: 'asked "here"', messages: [], stream: false, origin });

function framesOf(bytes: Uint8Array): Frame[] {
  const reader = boundedReader(anthropicMessages.reader(call(), 'application/json', {}), call(), { skippedEvents: 0 });
  return [...reader.read(bytes), ...reader.end()];
}

function passed(frames: readonly Frame[]): string {
  const writer = anthropicMessages.writer(call());
  return textOf(joinBytes([...frames.map((frame) => writer.pass(frame)), writer.end()]));
}

const isDecisive = ({ type }: ReplyEvent) =>
  !['part-start', 'part-delta', 'part-end', 'reply-start', 'aside'].includes(type);

/** Both readers agree on what the call costs and on what the client gets. */
function expectAgreement(reply: string | Buffer): 'plain' | 'full' {
  const bytes = Buffer.from(reply);
  const plain = plainReply(bytes);
  if (!plain) return 'full';
  const frames = framesOf(bytes);
  const { usage, finish, model } = plain;
  const raw = finish === 'stop' ? 'end_turn' : 'max_tokens';
  expect(frames.flatMap(({ events }) => [...events]).filter(isDecisive)).toEqual([
    { type: 'choice-end', choice: 0, finish: { reason: finish, raw } },
    { type: 'usage', usage },
    { type: 'reply-end' },
  ]);
  const named = model === call().model ? bytes : replaceMember(bytes, 'model', call().model);
  const sent = textOf(named);
  expect(sent).toBe(passed(frames));
  // Of two members of one name the client's parser takes the last.
  expect(JSON.parse(sent.replace(/^\uFEFF/, '')).model).toBe(call().model);
  return 'plain';
}

const changed = (members: JsonObject) => JSON.stringify({ ...MESSAGE, ...members });
const saying = (block: JsonObject) => changed({ content: [{ ...BLOCK, ...block }] });
const plainText = JSON.stringify(MESSAGE);

test('a message of one text is recognised in the forms that providers send', () => {
  expect(expectAgreement(plainText)).toBe('plain');
  expect(expectAgreement(JSON.stringify(MESSAGE, null, 2))).toBe('plain');
  const cached = {
    ...USAGE,
    cache_read_input_tokens: 4,
    cache_creation: { ephemeral_1h_input_tokens: 3 },
    iterations: null,
  };
  expect(expectAgreement(changed({ usage: cached, stop_reason: 'max_tokens', container: null }))).toBe('plain');
  expect(expectAgreement(saying({ text: 'ü "\\\n\u0001 𝄞' }))).toBe('plain');
  expect(expectAgreement(plainText.replace('"id"', '"model":"first","id"'))).toBe('plain');
  // A member of this name, not the prototype of the report.
  expect(expectAgreement(plainText.replace('"input_tokens":21', '"__proto__":{"input_tokens":77}'))).toBe('plain');
});

describe('a doubt is the full reader’s', () => {
  test.each<[string, string]>([
    ['a tool call', changed({ content: [BLOCK, { type: 'tool_use', id: 't', name: 'f', input: {} }] })],
    ['thinking', changed({ content: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }] })],
    ['two texts', changed({ content: [BLOCK, BLOCK] })],
    ['no text', changed({ content: [] })],
    ['a text that is none', saying({ text: 1 })],
    ['citations', saying({ citations: [{ type: 'char_location', cited_text: 'Hi' }] })],
    ['a stop sequence', changed({ stop_reason: 'stop_sequence', stop_sequence: 'END' })],
    ['a refusal', changed({ stop_reason: 'refusal', stop_details: { explanation: 'No.' } })],
    ['no finish reason', changed({ stop_reason: null })],
    ['no model', changed({ model: null })],
    ['no usage', changed({ usage: null })],
    ['a usage of zero', changed({ usage: { input_tokens: 0, output_tokens: 0 } })],
    ['unusable figures', changed({ usage: { ...USAGE, input_tokens: -1 } })],
    ['an error', JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'no' } })],
    ['a long text', saying({ text: 'x'.repeat(64 * 1024) })],
    ['a cut reply', plainText.slice(0, -1)],
    ['another kind of value', '[]'],
    ['nothing', ''],
  ])('%s', (_, text) => {
    expect(plainReply(Buffer.from(text))).toBeUndefined();
  });
});

/** Mostly the usual value: a reply with several unusual ones is never plain. */
const often = <T>(usual: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });

test('for any message both readers agree', () => {
  const scalar = fc.constantFrom<JsonObject[string]>(null, '', 'x', 0, 1, -1.5, 1e21, true, [], {}, ['a'], { a: 1 });
  const count = often(7, fc.constantFrom<JsonObject[string]>(0, 1, 12, -1, 1.5, '3', null, 2 ** 60));
  const extra = (names: string[]) => often({}, fc.dictionary(fc.constantFrom(...names), scalar, { maxKeys: 2 }));
  const message = fc.record({
    text: fc.oneof({ weight: 6, arbitrary: fc.string({ unit: 'binary' }) }, { weight: 1, arbitrary: scalar }),
    block: extra(['citations', 'cache_control', 'type', 'signature']),
    reason: often<JsonObject[string]>('end_turn', fc.constantFrom<JsonObject[string]>('max_tokens', 'tool_use', null)),
    more: extra([
      'id',
      'type',
      'role',
      'model',
      'stop_sequence',
      'stop_details',
      'container',
      'context_management',
      'error',
    ]),
    usage: extra([
      'cache_read_input_tokens',
      'cache_creation',
      'server_tool_use',
      'iterations',
      'service_tier',
      'speed',
    ]),
    input: count,
    output: count,
    indent: fc.constantFrom(0, 1),
  });
  let plain = 0;
  fc.assert(
    fc.property(message, ({ text, block, reason, more, usage, input, output, indent }) => {
      const body = {
        ...MESSAGE,
        content: [{ ...BLOCK, text, ...block }],
        stop_reason: reason,
        usage: { input_tokens: input, output_tokens: output, ...usage },
        ...more,
      };
      if (expectAgreement(JSON.stringify(body, null, indent)) === 'plain') plain++;
    }),
    { numRuns: 300 },
  );
  expect(plain).toBeGreaterThan(20);
});

test('for any damage to the bytes the full reader decides, or agrees', () => {
  const bytes = Buffer.from(plainText);
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.nat(255), fc.constantFrom('set', 'cut', 'insert'), (at, byte, how) => {
      const rest = bytes.subarray(how === 'insert' ? at : at + 1);
      expectAgreement(Buffer.concat([bytes.subarray(0, at), Buffer.from(how === 'cut' ? [] : [byte]), rest]));
    }),
    { numRuns: 800 },
  );
});
