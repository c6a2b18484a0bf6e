import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import type { ChatCall, Message } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Reader } from '../../dialects/dialect.ts';
import { asSpeech, spokenReply } from './speech-calls.ts';

const turn = (role: Message['role'], text: string): Message => ({ role, parts: [{ type: 'text', text }] });

const callOf = (messages: Message[], more: Partial<ChatCall> = {}): ChatCall =>
  chatCall({ stream: false, messages, ...more });

describe('a conversation as a request for speech', () => {
  test('the last turn is the input, instructions are kept, the voice is the requested one', () => {
    const messages = [turn('system', 'Slowly.'), turn('user', 'Good day')];
    const { call, losses } = asSpeech(callOf(messages, { audio: { voice: 'alloy', format: 'mp3' } }));
    expect(call).toMatchObject({ input: 'Good day', instructions: 'Slowly.', voice: 'alloy', format: 'mp3' });
    expect(losses).toEqual([]);
  });

  test('formats are mapped to their names; an unsupported one becomes wav', () => {
    const formatOf = (format: string) =>
      asSpeech(callOf([turn('user', 'a')], { audio: { voice: 'v', format } })).call.format;
    expect([formatOf('pcm16'), formatOf('flac'), formatOf('midi')]).toEqual(['pcm', 'flac', 'wav']);
  });

  test('earlier turns and further choices are reported as lost', () => {
    const messages = [turn('user', 'a'), turn('assistant', 'b'), turn('user', 'c')];
    expect(asSpeech(callOf(messages, { sampling: { n: 2 } })).losses).toHaveLength(2);
  });

  test('without a text the call is refused', () => {
    for (const messages of [[], [turn('user', '  ')], [turn('assistant', 'a')]]) {
      expect(() => asSpeech(callOf(messages))).toThrow(GatewayError);
    }
  });
});

test('audio becomes a part of a reply: in complete groups of base64, however it is split', () => {
  const pieces = ['a', 'bcde', 'fg'];
  const reader: Reader = {
    read: (chunk) => [{ bytes: chunk, events: [{ type: 'result', result: { type: 'audio', bytes: chunk } }] }],
    end: () => [{ bytes: new Uint8Array(), events: [{ type: 'reply-end' }] }],
  };
  const spoken = spokenReply(reader, asSpeech(callOf([turn('user', 'a')])).call);
  const frames = [...pieces.flatMap((piece) => spoken.read(Buffer.from(piece))), ...spoken.end()];
  const events = frames.flatMap((frame) => [...frame.events]) as ReplyEvent[];
  const deltas = events.flatMap((event) => (event.type === 'part-delta' ? [event.delta] : []));
  expect(Buffer.from(deltas.join(''), 'base64').toString()).toBe('abcdefg');
  expect(deltas.slice(0, -1).every((delta) => !delta.includes('='))).toBe(true);
  const others = events.map(({ type }) => type).filter((type) => type !== 'part-delta');
  expect(others).toEqual(['reply-start', 'part-start', 'part-end', 'choice-end', 'reply-end']);
});
