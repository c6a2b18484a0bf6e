/** Laws that every dialect keeps, checked with all recordings of its wire format. A dialect runs them with one line. */
import { describe, expect, test } from 'bun:test';
import type { Call, ChatCall } from '../../src/canonical/call.ts';
import { ERRORS, type ErrorCode, GatewayError } from '../../src/canonical/errors.ts';
import { addEvent, emptyReply, type Reply, type ReplyEvent } from '../../src/canonical/reply.ts';
import type { Dialect, Frame, ProviderDialect } from '../../src/dialects/dialect.ts';
import type { Quirks } from '../../src/dialects/shared/quirks.ts';
import {
  cutBytes,
  type RecordedCase,
  recordedCases,
  replyBytes,
  replyContentType,
  requestBytes,
} from '../helpers/fixtures.ts';

export interface LawOptions {
  /** The quirks of the recorded provider. */
  quirks?: (recorded: RecordedCase) => Quirks;
  /** Path parameters and query of the recorded endpoint, for formats with members there. */
  path?: (recorded: RecordedCase) => { [name: string]: string };
  /** The recordings' name of the format, if it differs from the dialect's. */
  wire?: string;
  /** Whether the gateway refuses the recorded request. */
  refuses?: (recorded: RecordedCase) => boolean;
  /** The model that the sandbox's requests are written for: one that takes all the format has, which it does itself. */
  able?: string;
}

/** Seed 0: one piece; seed 1: byte by byte. */
const CUTTINGS = [1, 7, 42];

/** The laws of reading replies, also for formats that only providers use. */
export function readingLaws(dialect: ProviderDialect, call: ChatCall, options: LawOptions = {}): void {
  const cases = recordedCases(options.wire ?? dialect.name);
  const quirksOf = options.quirks ?? (() => ({}));

  describe.skipIf(cases.length === 0)(`${dialect.name} reads ${cases.length} recordings correctly`, () => {
    const answered = cases.filter((recorded) => recorded.status === 200);
    const refused = cases.filter((recorded) => recorded.status !== 200);
    const callFor = (recorded: RecordedCase): ChatCall => ({ ...call, stream: recorded.stream });
    const framesOf = (recorded: RecordedCase, chunks: readonly Uint8Array[]) =>
      readFrames(dialect, callFor(recorded), recorded, quirksOf(recorded), chunks);

    test.each(answered.map(named))(
      'any splitting gives the same frames, which join to the recording: %s',
      (_, recorded) => {
        const bytes = replyBytes(recorded);
        const whole = framesOf(recorded, [bytes]);
        expect(Buffer.concat(whole.map((frame) => frame.bytes)).equals(bytes)).toBe(true);
        for (const seed of CUTTINGS) expect(plain(framesOf(recorded, cutBytes(bytes, seed)))).toEqual(plain(whole));
      },
    );

    test.each(answered.map(named))('the reply ends once, successfully or with an error: %s', (_, recorded) => {
      const events = framesOf(recorded, [replyBytes(recorded)]).flatMap((frame) => frame.events);
      const ends = events.filter((event) => event.type === 'reply-end' || event.type === 'error');
      expect(ends.length).toBe(1);
      expect(events.at(-1)).toBe(ends[0]);
      expect(partsAreOrderly(events)).toBe('orderly');
    });

    test.each(refused.map(named))('a refusal is read: %s', (_, recorded) => {
      const error = dialect.readError(recorded.status, new Headers(recorded.response_headers), replyBytes(recorded));
      expect(error).toBeInstanceOf(GatewayError);
      const isRequests = [400, 404, 413, 422].includes(recorded.status);
      expect(error.retryable).toBe(!isRequests || error.code !== 'upstream_refused');
      expect(error.message).not.toMatch(/https?:|sk-|user_|arn:/);
    });
  });
}

/** `call`: the request, for recordings without one. */
export function dialectLaws(dialect: Dialect<ChatCall>, call: ChatCall, options: LawOptions = {}): void {
  readingLaws(dialect, call, options);
  const cases = recordedCases(options.wire ?? dialect.name);
  const quirksOf = options.quirks ?? (() => ({}));

  describe.skipIf(cases.length === 0)(`${dialect.name} keeps the laws with ${cases.length} recordings`, () => {
    const answered = cases.filter((recorded) => recorded.status === 200);
    const withRequest = answered.filter(
      (recorded) => requestBytes(recorded) !== undefined && !options.refuses?.(recorded),
    );

    test.each(answered.map(named))(
      'a rewritten reply, streaming or not, is read with the same meaning: %s',
      (_, recorded) => {
        const events = eventsOf(recorded);
        if (events.at(-1)?.type === 'error') return;
        const original = view(replyOf(events));
        for (const stream of [true, false]) {
          // Truncated arguments are invalid JSON, which a format with arguments as objects cannot express.
          if (!stream && hasBrokenCall(events)) continue;
          const call: ChatCall = { ...callFor(recorded), stream, wantsUsage: true };
          const writer = dialect.writer(call);
          const written = Buffer.concat([
            ...events.map((event) => writer.write({ bytes: new Uint8Array(), events: [event] })),
            writer.end(),
          ]);
          const reader = dialect.reader(call, writer.contentType, {});
          const again = [...reader.read(written), ...reader.end()].flatMap((frame) => frame.events);
          // An id that the provider omitted is made up, and differs each time.
          const read = view(replyOf(again));
          expect(original.id === '' ? { ...read, id: '' } : read).toEqual(original);
          expect(again.at(-1)?.type).toBe('reply-end');
        }
      },
    );

    test.each(withRequest.map(named))(
      'a request that is rewritten for its own dialect, or passed on, is read with the same meaning: %s',
      (_, recorded) => {
        const original = read(recorded, requestBytes(recorded));
        const quirks: Quirks = { supportsDeveloperRole: true };
        const path = options.path?.(recorded);
        const model = (recorded.provider === 'sandbox' ? options.able : undefined) ?? original.model;
        const written = dialect.writeCall(original, model, quirks);
        expect(meaning(read(recorded, written.body))).toEqual(
          meaning({
            ...original,
            model: path?.model ?? model,
            wantsUsage: original.wantsUsage || original.stream,
          }),
        );
        const passed = read(recorded, dialect.passCall(original, 'another-model', quirks).body);
        expect(meaning(passed)).toEqual(
          meaning({
            ...original,
            model: path?.model ?? 'another-model',
            wantsUsage: original.wantsUsage || original.stream,
          }),
        );
      },
    );

    test.each(Object.keys(ERRORS) as ErrorCode[])('%s has a body', (code) => {
      const reply = dialect.writeError(new GatewayError(code, 'A sentence.', { param: 'model' }), 'req_1');
      expect(JSON.stringify(JSON.parse(String(reply.body)))).toContain('A sentence.');
      expect(reply.status).toBeGreaterThanOrEqual(400);
    });

    function callFor(recorded: RecordedCase): ChatCall {
      return { ...call, stream: recorded.stream };
    }

    function eventsOf(recorded: RecordedCase): ReplyEvent[] {
      const chunks = [replyBytes(recorded)];
      return readFrames(dialect, callFor(recorded), recorded, quirksOf(recorded), chunks).flatMap(
        (frame) => frame.events,
      );
    }

    function read(recorded: RecordedCase, body: Uint8Array | undefined): ChatCall {
      const path = options.path?.(recorded) ?? {};
      const request = { body: body ?? new Uint8Array(), headers: new Headers(), path, query: new URLSearchParams() };
      return dialect.readCall(request);
    }
  });
}

function named(recorded: RecordedCase): [string, RecordedCase] {
  return [recorded.file, recorded];
}

export function readFrames(
  dialect: ProviderDialect,
  call: Call,
  recorded: RecordedCase,
  quirks: Quirks,
  chunks: readonly Uint8Array[],
): Frame[] {
  const reader = dialect.reader(call, replyContentType(recorded), quirks);
  return [...chunks.flatMap((chunk) => reader.read(chunk)), ...reader.end()];
}

export function replyOf(events: readonly ReplyEvent[]): Reply {
  const reply = emptyReply();
  for (const event of events) addEvent(reply, event);
  return reply;
}

/** What a client's user sees of a reply, independent of its splitting into parts and events. */
export function view(reply: Reply) {
  return {
    id: reply.id,
    createdSeconds: reply.createdSeconds,
    usage: reply.usage,
    choices: reply.choices.map(({ parts, finish }) => {
      const of = (type: string) => parts.filter((part) => part.opens.type === type);
      const contentOf = (type: string) =>
        of(type)
          .map((part) => part.content)
          .join('');
      return {
        finish: finish?.reason,
        text: contentOf('text'),
        reasoning: contentOf('reasoning'),
        refusal: contentOf('refusal'),
        audio: of('audio'),
        calls: of('tool-call').map(({ opens, content }) => ({ opens, input: jsonOf(content) ?? content })),
        signatures: parts.flatMap((part) => part.signature ?? []),
        citations: parts.flatMap((part) => part.citations ?? []).map(({ url }) => url),
        logprobs: parts.flatMap((part) => part.logprobs ?? []),
      };
    }),
  };
}

/** Parsed, because white space in arguments has no meaning. */
function jsonOf(content: string): unknown {
  try {
    return JSON.parse(content === '' ? '{}' : content);
  } catch {
    return undefined;
  }
}

function hasBrokenCall(events: readonly ReplyEvent[]): boolean {
  const parts = replyOf(events).choices.flatMap((choice) => choice.parts);
  return parts.some(
    ({ opens, content }) => opens.type === 'tool-call' && !opens.custom && jsonOf(content) === undefined,
  );
}

function plain(frames: readonly Frame[]) {
  return frames.map((frame) => ({ bytes: Buffer.from(frame.bytes).toString('latin1'), events: frame.events }));
}

function meaning({ origin: _, thread, ...call }: ChatCall) {
  return call;
}

/** Parts are numbered from 0, grow only while open, and are closed when their choice ends. */
function partsAreOrderly(events: readonly ReplyEvent[]): string {
  const open = new Map<number, Set<number>>();
  const opened = new Map<number, number>();
  for (const event of events) {
    if (!('choice' in event)) continue;
    const parts = open.get(event.choice) ?? new Set();
    open.set(event.choice, parts);
    const next = opened.get(event.choice) ?? 0;
    if (event.type === 'choice-end') {
      if (parts.size > 0) return `choice ${event.choice} ended with open parts`;
      continue;
    }
    if (event.type === 'part-start') {
      if (event.part !== next) return `part ${event.part} opened in the place of ${next}`;
      opened.set(event.choice, next + 1);
      parts.add(event.part);
    } else if (event.part >= next) return `part ${event.part} was not opened`;
    if (event.type === 'part-end' && !parts.delete(event.part)) return `part ${event.part} ended twice`;
  }
  return 'orderly';
}
