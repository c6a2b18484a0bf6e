import { describe, expect, test } from 'bun:test';
import { packEvent, packException, packMessage } from '../../../test/helpers/event-stream.ts';
import { fc } from '../../../test/helpers/property.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { EventStreamCutter, type EventStreamMessage } from './event-stream.ts';

const decoder = new TextDecoder();

function cut(chunks: readonly Uint8Array[]) {
  const cutter = new EventStreamCutter();
  const messages: EventStreamMessage[] = [];
  let fault: unknown;
  try {
    for (const chunk of chunks) messages.push(...cutter.read(chunk));
    cutter.end();
  } catch (thrown) {
    fault = thrown;
  }
  return { messages, fault };
}

const typeAndPayload = ({ headers, payload }: EventStreamMessage) => [headers[':event-type'], decoder.decode(payload)];

describe('the binary event stream', () => {
  test('chunk boundaries do not change the messages, whose bytes are the input', () => {
    const stream = Buffer.concat([
      packEvent('messageStart', { role: 'assistant' }),
      packEvent('contentBlockDelta', { delta: { text: 'Grüße 日本' } }),
      packMessage({}, ''),
      packException('throttlingException', 'slower'),
    ]);
    const whole = cut([stream]);
    expect(whole.fault).toBeUndefined();
    expect(whole.messages.map(typeAndPayload)[1]).toEqual(['contentBlockDelta', '{"delta":{"text":"Grüße 日本"}}']);
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length)), (points) => {
        const at = [0, ...points.sort((a, b) => a - b), stream.length];
        const { messages, fault } = cut(at.slice(1).map((end, i) => stream.subarray(at[i], end)));
        expect(fault).toBeUndefined();
        expect(messages.map(typeAndPayload)).toEqual(whole.messages.map(typeAndPayload));
        expect(Buffer.concat(messages.map(({ bytes }) => bytes)).equals(stream)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test('a flipped bit anywhere is found, and everything before it is returned', () => {
    const first = packEvent('messageStart', { role: 'assistant' });
    const second = packEvent('metadata', { usage: { inputTokens: 1 } });
    for (let at = 0; at < second.length; at++) {
      const damaged = Buffer.from(second);
      damaged[at]! ^= 0x10;
      const { messages, fault } = cut([Buffer.concat([first, damaged])]);
      expect(messages.map(typeAndPayload)).toEqual([['messageStart', '{"role":"assistant"}']]);
      expect(fault).toBeInstanceOf(GatewayError);
    }
  });

  test('an end inside a message is an error', () => {
    const message = packEvent('messageStop', { stopReason: 'end_turn' });
    for (const length of [1, 11, 12, 30, message.length - 1]) {
      expect(cut([message.subarray(0, length)]).fault).toMatchObject({ code: 'upstream_failed', retryable: true });
    }
    expect(cut([message]).fault).toBeUndefined();
  });

  test('headers of other types are ignored', () => {
    const name = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
    const text = (value: string) => Buffer.concat([Buffer.from([7, 0, value.length]), Buffer.from(value)]);
    const others = [
      [0],
      [1],
      [2, 9],
      [3, 0, 9],
      [4, 0, 0, 0, 9],
      [5, ...Array(8).fill(1)],
      [6, 0, 2, 1, 1],
      [9, ...Array(16).fill(2)],
    ];
    const head = Buffer.concat([
      ...others.flatMap((value, i) => [name(`h${i}`), Buffer.from(value)]),
      name(':event-type'),
      text('x'),
    ]);
    const plain = packMessage({}, '');
    const prelude = Buffer.alloc(8);
    prelude.writeUInt32BE(plain.length + head.length);
    prelude.writeUInt32BE(head.length, 4);
    const sum = (bytes: Uint8Array) => {
      const four = Buffer.alloc(4);
      four.writeUInt32BE(Bun.hash.crc32(bytes));
      return four;
    };
    const start = Buffer.concat([prelude, sum(prelude), head]);
    const { messages, fault } = cut([Buffer.concat([start, sum(start)])]);
    expect(fault).toBeUndefined();
    expect(messages[0]?.headers).toEqual({ ':event-type': 'x' });
  });
});
