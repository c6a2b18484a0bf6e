import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../test/helpers/chat-call.ts';
import { fc } from '../../../test/helpers/property.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { OwnBody, WrittenBody, writtenFor } from './outgoing-body.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (body: Uint8Array) => new TextDecoder().decode(body);

describe("a client's own bytes", () => {
  test('are the same if nothing changes', () => {
    const sent = bytes('{ "seed" : 1.0e2, "a":1 }');
    const body = new OwnBody(sent);
    body.set('absent', undefined);
    expect([body.get('seed'), body.get('b')]).toEqual([100, undefined]);
    expect(body.encode()).toBe(sent);
  });

  test('with a repeated member have it once, as it was read: the last counts', () => {
    const twice = '{"max_tokens":100000, "a":9007199254740993,"max_tokens":1}';
    expect(text(new OwnBody(bytes(twice)).encode())).toBe('{"a":9007199254740993,"max_tokens":1}');
    expect(new OwnBody(bytes(twice)).get('max_tokens')).toBe(1);
    const escaped = '{"n":9,"\\u006e":1}';
    expect(text(new OwnBody(bytes(escaped)).encode())).toBe('{"\\u006e":1}');
    const changed = new OwnBody(bytes('{"n":9,"n":8,"a":1}'));
    changed.set('n', 2);
    expect(text(changed.encode())).toBe('{"n":2,"a":1}');
    const removed = new OwnBody(bytes('{"n":9,"n":8}'));
    removed.set('n', undefined);
    expect(text(removed.encode())).toBe('{}');
  });

  test('with another value of one member differ in its bytes alone', () => {
    const body = new OwnBody(bytes('{ "a" : {"model":"x"}, "model" : "m", "n":1.0 }'));
    body.set('model', 'up"stream');
    expect(text(body.encode())).toBe('{ "a" : {"model":"x"}, "model" : "up\\"stream", "n":1.0 }');
    const twice = new OwnBody(bytes('{"model":"m","n":1,"n":2}'));
    twice.set('model', 'o');
    expect(text(twice.encode())).toBe('{"model":"o","n":2}');
    const many = Array.from({ length: 60 }, (_, i) => `"m${i}":${i}`).join(',');
    const long = new OwnBody(bytes(`{"model":"m",${many}}`));
    long.set('model', 'o');
    expect(text(long.encode())).toBe(`{"model":"o",${many}}`);
    const broken = new OwnBody(bytes('{"model":"m",'));
    broken.set('model', 'o');
    expect(() => broken.encode()).toThrow(GatewayError);
  });

  test('that are not a JSON object are refused', () => {
    expect(() => new OwnBody(bytes('[1]'))).toThrow(GatewayError);
  });

  test('are read and changed like written members', () => {
    const name = fc.constantFrom('a', 'b', 'c"', 'd\u00e9', '');
    const value = fc.oneof(fc.string(), fc.integer(), fc.constant(null));
    const pairs = fc.array(fc.tuple(name, value), { maxLength: 6 });
    const changes = fc.array(fc.tuple(name, fc.option(value, { nil: undefined })), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(pairs, changes, (members, edits) => {
        const sent = `{${members.map(([one, value]) => ` ${JSON.stringify(one)} : ${JSON.stringify(value)}`).join(' ,')} }`;
        const own = new OwnBody(bytes(sent));
        const written = new WrittenBody(JSON.parse(sent));
        for (const [one, value] of edits) {
          for (const body of [own, written])
            body.set(one, value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
          expect(own.get(one)).toEqual(written.get(one) as never);
        }
        expect(JSON.parse(text(own.encode()))).toEqual(JSON.parse(text(written.encode())));
        expect(text(own.encode()).match(/"a" ?:/g)?.length ?? 0).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a large body', () => {
  test.each([
    ['beyond ASCII', 'Ünïcödé wörds. '],
    ['of pairs of surrogates, wherever a piece ends', '😀'],
    ['of pairs that begin at odd places', 'a😀'],
    ['of half characters', '\ud800x'],
  ])('is the same in pieces: %s', async (_, words) => {
    const body = new WrittenBody({ a: 1, text: `b${words.repeat(9_000_000 / words.length)}` });
    const whole = body.encode();
    expect(Buffer.compare(await body.encodeInPieces(), whole)).toBe(0);
  });

  test('lets other requests be served, and accepts changes until it is encoded', async () => {
    const body = new WrittenBody({ text: 'Ünïcödé '.repeat(2_000_000) });
    const call = chatCall({ origin: { dialect: 'x', body: new Uint8Array(1024 * 1024 + 1) } });
    const { body: none, late } = writtenFor(call, body, []);
    expect(none).toHaveLength(0);
    late?.set('model', 'm');
    let turns = 0;
    const turning = setInterval(() => turns++, 0);
    const bytes = await late?.encodeInPieces();
    clearInterval(turning);
    expect(turns).toBeGreaterThan(0);
    expect(JSON.parse(text(bytes!)).model).toBe('m');
  });

  test('is one whose request was large: another is encoded at once', () => {
    const { body, late } = writtenFor(chatCall(), new WrittenBody({ a: 1 }), ['lost']);
    expect([text(body), late]).toEqual(['{"a":1}', undefined]);
  });
});
