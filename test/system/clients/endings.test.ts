/** Wherever a stream fails, every supported library throws, and none treats the beginning as complete. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '../../../src/canonical/errors.ts';
import type { ReplyEvent } from '../../../src/canonical/reply.ts';
import { dialectNamed } from '../../../src/dialects/index.ts';
import { startVersionsClient, VERSIONS, type VersionsClient } from '../../clients/versions-client.ts';
import { type Source, sources } from '../../conformance/translate-replies.ts';
import { chatCall } from '../../helpers/chat-call.ts';
import { hasFixtures } from '../../helpers/fixtures.ts';
import { type GatewayProcess, startGateway } from '../../helpers/gateway-process.ts';

const INSTALL_MS = 300_000;
const SUITE_MS = 120_000;
const NO_BYTES = new Uint8Array(0);
const ERROR_TEXT = 'The reply broke off in the middle.';
/** The number of cuts of a recording, evenly spread, and of recordings of each format. */
const MOST_CUTS = 12;
const MOST_RECORDINGS = 1;
/** The last pieces of a cut recording that are writes of their own: each write takes as long as reading it. */
const WRITES_APART = 3;
const AT_A_TIME = 8;

let client: VersionsClient;
beforeAll(async () => {
  client = await startVersionsClient();
}, INSTALL_MS);
afterAll(() => client.stop());

const part = (index: number, opens: Extract<ReplyEvent, { type: 'part-start' }>['opens'], ...deltas: string[]) => [
  { type: 'part-start' as const, choice: 0, part: index, opens },
  ...deltas.map((delta) => ({ type: 'part-delta' as const, choice: 0, part: index, delta })),
  { type: 'part-end' as const, choice: 0, part: index },
];
const EVENTS: ReplyEvent[] = [
  { type: 'reply-start', id: 'r1', model: 'provider-model', createdSeconds: 7 },
  ...part(0, { type: 'reasoning' }, 'Let me ', 'think.'),
  ...part(1, { type: 'text' }, 'Hello ', 'world.'),
  { type: 'part-citation', choice: 0, part: 1, citation: { url: 'https://example.test/', start: 0, end: 5 } },
  ...part(2, { type: 'tool-call', id: 'call_1', name: 'weather' }, '{"city":', '"Paris"}'),
  ...part(3, { type: 'text' }, 'So it is.'),
  { type: 'choice-end', choice: 0, finish: { reason: 'tool-calls' } },
  { type: 'usage', usage: { input: 3, output: 4, source: 'reported' } },
];

/**
 * What a client has received when its stream failed after this many events, and whether the connection broke too. The last `apart` pieces
 * arrive one by one, those before at once.
 */
function cutAfter(events: readonly ReplyEvent[], count: number, format: string, apart: number) {
  const call = chatCall({ stream: true, origin: { dialect: 'none', body: NO_BYTES, framing: 'sse' } });
  const writer = dialectNamed(format)?.writer(call);
  if (!writer) throw new Error(`There is no ${format}.`);
  const error = new GatewayError('upstream_failed', ERROR_TEXT);
  const pieces = events.slice(0, count).map((event) => writer.write({ bytes: NO_BYTES, events: [event] }));
  pieces.push(writer.fail(error));
  if (writer.afterFail) pieces.push(writer.afterFail(error));
  const broken = writer.afterFail !== undefined;
  const texts = pieces.map((piece) => Buffer.from(piece).toString());
  return { contentType: writer.contentType, pieces: [texts.slice(0, -apart).join(''), ...texts.slice(-apart)], broken };
}

/** The cuts after which this library treated the stream as complete. */
async function takenForComplete(
  library: string,
  format: string,
  streams: readonly Stream[],
  mostCuts = MOST_CUTS,
  apart = WRITES_APART,
): Promise<string[]> {
  const cuts = streams.flatMap(({ name, events }) => {
    const step = Math.max(1, events.length / mostCuts);
    return Array.from({ length: Math.min(events.length, mostCuts) }, (_, i) => ({
      name,
      events,
      count: Math.min(events.length, Math.ceil((i + 1) * step)),
    }));
  });
  const wrong: string[] = [];
  const [dialect = format] = format.split(',');
  let next = 0;
  const worker = async () => {
    for (let cut = cuts[next++]; cut; cut = cuts[next++]) {
      const served = cutAfter(cut.events, cut.count, dialect, apart);
      const { error } = await client.run({ library, format, stream: true, tools: true, ...served });
      if (!error) wrong.push(`${cut.name} behind ${cut.count} of ${cut.events.length} events`);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return wrong;
}

interface Stream {
  name: string;
  events: readonly ReplyEvent[];
}

/** The most varied recordings of each format, of these the shortest. */
function recorded(): Stream[] {
  const variety = ({ events }: Source) =>
    new Set(events.map((event) => event.type + ('opens' in event ? event.opens.type : ''))).size;
  const whole = sources().filter(({ recorded: { stream }, error }) => stream && !error);
  const formats = Map.groupBy(whole, ({ dialect }) => dialect.name);
  return [...formats.values()].flatMap((ofFormat) =>
    ofFormat
      .toSorted((a, b) => variety(b) - variety(a) || a.events.length - b.events.length)
      .slice(0, MOST_RECORDINGS)
      .map((source) => ({
        name: source.recorded.file,
        events: source.events.filter(({ type }) => type !== 'reply-end'),
      })),
  );
}

const pairs = Object.entries(VERSIONS).flatMap(([format, libraries]) =>
  libraries.map((library) => [format, library] as const),
);

describe('a stream that fails after any event is an error for', () => {
  test.each(pairs)(
    '%s: %s',
    async (format, library) => {
      const streams = [{ name: 'all there is', events: EVENTS }];
      const wrong = await takenForComplete(library, format, streams, EVENTS.length, Number.POSITIVE_INFINITY);
      expect(wrong).toEqual([]);
    },
    SUITE_MS,
  );
});

describe.skipIf(!hasFixtures)('recordings that are cut are errors for', () => {
  const streams = hasFixtures ? recorded() : [];
  test.each(pairs)(
    '%s: %s',
    async (format, library) => {
      expect(streams.length).toBeGreaterThan(3);
      expect(await takenForComplete(library, format, streams)).toEqual([]);
    },
    SUITE_MS,
  );
});

describe('a provider that fails behind a gateway', () => {
  let provider: Server;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    // Three chunks, then the connection breaks.
    provider = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const content of ['Hello ', 'world', '.']) {
        const choices = [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }];
        response.write(
          `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 7, model: 'm', choices })}\n\n`,
        );
      }
      setTimeout(() => response.destroy(), 20);
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
    gateway = await startGateway({
      environment: { MODELPORT_LOG_LEVEL: 'error' },
      providers: [{ name: 'breaking', type: 'openai-compatible', baseUrl, credential: 'sk-provider' }],
      models: [
        {
          name: 'breaking',
          kind: 'chat',
          price: { input: 1, output: 1 },
          targets: [{ provider: 'breaking', model: 'm' }],
        },
      ],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    provider.close();
  });

  /** Libraries that do not pass on the message of a stream's error. */
  const SILENT = new Set([
    'openai-chat: mistral 1',
    'openai-chat: mistral 2',
    'openai-responses: ai 5',
    'gemini: ai 4',
    'gemini: generative-ai 0',
  ]);

  // That provider has no text completions.
  const conversing = pairs.filter(([format]) => format !== 'openai-completions');
  test.each(conversing)('is an error to %s: %s', async (format, library) => {
    const { url, apiKey } = gateway;
    const { error } = await client.run({ library, format, stream: true, url, apiKey, model: 'breaking' });
    expect(error).toBeDefined();
    if (!SILENT.has(`${format}: ${library}`)) expect(error?.message).toContain('broke off');
  });
});
