/** Clients that pause reading: nothing is lost or doubled, their pause counts as no failure, and the charge is always right. */
import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { assertBroken } from '../e2e/calls.ts';
import { chatRequest, streamAnswer, USED } from '../helpers/chat-answers.ts';
import { withoutCost } from '../helpers/cost-comment.ts';
import { PROVIDERS } from '../helpers/provider-answers.ts';
import { costOf, nanoCost, type Scene, type Stage, type StageSetup, startScene } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import type { Answer } from '../upstream/answer.ts';

const SILENCE_MS = 1500;
const KEEP_ALIVE_MS = 300;
/** A time limit on whole calls that no test reaches but the one that is about it. */
const WHOLE_MS = 60_000;
const SHORT_WHOLE_MS = 4000;
/** A provider that sent nothing for so long is held up, on a busy machine too. */
const STILL_MS = 700;

const environment = {
  MODELPORT_SILENCE_TIMEOUT_MS: String(SILENCE_MS),
  MODELPORT_KEEP_ALIVE_MS: String(KEEP_ALIVE_MS),
  MODELPORT_WHOLE_TIMEOUT_MS: String(WHOLE_MS),
};

const scene = useScene({ environment });

/** More than all buffers on the way hold, compressed or not: events that are each larger than one write. */
const LINES = Array.from({ length: 240 }, (_, n) => `${n} ${randomBytes(75_000).toString('base64')}`);
/** One event larger than a client's buffer. */
const LONG = 'y'.repeat(16_000_000);

/** A raw client that reads only when the test calls for it. */
async function ask(
  stage: Stage,
  more: object = {},
  line = 'POST /v1/chat/completions HTTP/1.1',
  { gateway }: Pick<Scene, 'gateway'> = scene,
) {
  const body = JSON.stringify(chatRequest(stage.model, { stream: true, ...more }));
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  const pieces: Buffer[] = [];
  let isClosed = false;
  socket.on('data', (bytes: Buffer) => void pieces.push(bytes));
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
  });
  const head = `host: x\r\nauthorization: Bearer ${stage.caller.key}\r\ncontent-length: ${Buffer.byteLength(body)}`;
  const request = `${line}\r\n${head}\r\n\r\n${body}`;
  socket.write(request);
  const until = async (holds: (last: string) => boolean): Promise<Buffer> => {
    socket.resume();
    for (const end = performance.now() + 30_000; performance.now() < end; await Bun.sleep(5)) {
      if (isClosed || holds(Buffer.concat(pieces.slice(-3)).toString('latin1'))) return Buffer.concat(pieces);
    }
    throw new Error('the answer never ended');
  };
  const bytes = async () => unchunked(await until((last) => last.endsWith('\r\n0\r\n\r\n')));
  return {
    socket,
    request,
    until,
    /** The body of its complete answer. */
    bytes,
    body: async () => (await bytes()).toString(),
  };
}

/** The bodies of all answers in these bytes; throws for invalid framing. */
function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = bytes.indexOf('\r\n\r\n') + 4;
  for (;;) {
    const end = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16);
    if (!(size >= 0) || bytes.toString('latin1', end + 2 + size, end + 4 + size) !== '\r\n')
      throw new Error(`no chunk at ${at} of ${bytes.length}`);
    if (size === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 4 + size;
  }
}

/** Waits until the provider has begun all its answers and can send no more of them, because the client does not read. */
async function untilHeldUp(stage: Stage, answers: number): Promise<void> {
  const sentBytes = () => stage.journal().reduce((sum, entry) => sum + entry.sentBytes, 0);
  let [last, stillSince] = [0, performance.now()];
  for (const deadline = stillSince + 30_000; performance.now() < deadline; await Bun.sleep(20)) {
    const sent = sentBytes();
    if (sent !== last || stage.journal().length < answers) [last, stillSince] = [sent, performance.now()];
    else if (sent > 0 && performance.now() - stillSince > STILL_MS) return;
  }
  throw new Error('the provider was never held up');
}

/** The text of each choice. */
function textsOf(body: string): string[] {
  const texts: string[] = [];
  for (const event of body.split('\n\n')) {
    if (!event.startsWith('data: {')) continue;
    const { choices = [] } = JSON.parse(event.slice(6)) as {
      choices?: { index: number; delta: { content?: string } }[];
    };
    for (const { index, delta } of choices) texts[index] = (texts[index] ?? '') + (delta.content ?? '');
  }
  return texts;
}

const tokens = { input: USED.input, cachedInput: 0, output: USED.output, reasoning: 0 };
const foreign = PROVIDERS.messages.stream({ texts: LINES, tokens });
const ways: { name: string; setup?: StageSetup; answers: Answer[]; more?: object }[] = [
  { name: 'of its own format', answers: [streamAnswer(LINES)] },
  { name: 'packed', answers: [streamAnswer(LINES, { gzip: true })] },
  { name: 'of another format', setup: { type: 'anthropic' }, answers: [foreign] },
  { name: 'of several calls', setup: { type: 'anthropic' }, answers: [foreign, foreign], more: { n: 2 } },
];

describe.each(ways)('a stream $name', ({ setup, answers, more }) => {
  const used = { input: USED.input * answers.length, output: USED.output * answers.length };

  test('waits for a client longer than the upstream silence limit, and arrives completely', async () => {
    const stage = await scene.stage(setup);
    stage.script(...answers);
    const client = await ask(stage, more);
    await Bun.sleep(SILENCE_MS + 800);
    const body = await client.body();
    expect(body).toEndWith('data: [DONE]\n\n');
    const texts = textsOf(body);
    expect(texts).toHaveLength(answers.length);
    for (const text of texts) expect(text === LINES.join('')).toBe(true);
    const call = await stage.settledCall();
    expect(call).toMatchObject({ outcome: 'ok', usage: { source: 'reported' } });
    expect(nanoCost(call)).toBe(costOf(used));
    client.socket.destroy();
  }, 60_000);

  test.each(['abort', 'drain'] as const)(
    'whose client disconnects during the wait, for a model with policy %s',
    async (how) => {
      const stage = await scene.stage({ ...setup, onDisconnect: how });
      // A kernel's buffers may grow until a whole answer fits (32 MB on some machines): an answer to be aborted never ends.
      const endless = { before: 'end', does: 'silence' } as const;
      stage.script(...answers.map((answer) => (how === 'abort' ? { ...answer, fault: endless } : answer)));
      const { socket } = await ask(stage, more);
      await untilHeldUp(stage, answers.length);
      socket.destroy();
      const call = await stage.settledCall();
      expect(call.outcome).toBe('aborted');
      expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
      if (how === 'drain') expect(nanoCost(call)).toBe(costOf(used));
      else expect(call.usage?.source).not.toBe('reported');
      // The upstream notices it a moment later than the ledger.
      const deadline = performance.now() + 10_000;
      while (stage.journal().some(({ endedMs }) => !endedMs) && performance.now() < deadline) await Bun.sleep(10);
      expect(stage.journal().map(({ aborted }) => aborted)).toEqual(answers.map(() => how === 'abort'));
    },
    60_000,
  );
});

test('audio waits as text does, and arrives completely', async () => {
  const audio = randomBytes(24_000_000);
  const stage = await scene.stage({ kind: 'speech', price: { perMillionCharacters: 15 } });
  stage.script({ bytes: audio, headers: { 'content-type': 'audio/mpeg' }, chunking: 'whole', ending: 'chunked' });
  const client = await ask(stage, { input: 'Grüße', voice: 'alloy' }, 'POST /v1/audio/speech HTTP/1.1');
  await Bun.sleep(SILENCE_MS + 800);
  expect((await client.bytes()).equals(audio)).toBe(true);
  expect(await stage.settledCall()).toMatchObject({ outcome: 'ok' });
  client.socket.destroy();
}, 60_000);

describe('an upstream that ends while the client does not read', () => {
  const cut: Answer = { fault: { before: 4, does: 'cut' }, paceMs: 100 };
  async function untilEnded(stage: Stage): Promise<void> {
    for (const end = performance.now() + 30_000; !stage.journal()[0]?.endedMs && performance.now() < end; )
      await Bun.sleep(10);
    expect(stage.journal()[0]?.endedMs).toBeDefined();
  }

  test('normally: the client gets everything', async () => {
    const stage = await scene.stage();
    stage.script(streamAnswer([LONG, 'a', 'b'], { paceMs: 100 }));
    const client = await ask(stage);
    await untilEnded(stage);
    const body = await client.body();
    expect(textsOf(body)[0] === `${LONG}ab`).toBe(true);
    expect(body).toEndWith('data: [DONE]\n\n');
    expect(nanoCost(await stage.settledCall())).toBe(costOf(USED));
    client.socket.destroy();
  }, 60_000);

  test('by a failure: the client gets the error after everything before it', async () => {
    const stage = await scene.stage();
    stage.script(streamAnswer([LONG, 'a', 'b'], cut));
    const client = await ask(stage);
    await untilEnded(stage);
    const body = await client.body();
    expect(textsOf(body)[0] === `${LONG}ab`).toBe(true);
    assertBroken(body, 'upstream_failed');
    expect(await stage.settledCall()).toMatchObject({ outcome: 'broken', errorCode: 'upstream_failed' });
    client.socket.destroy();
  }, 60_000);

  test.each(['abort', 'drain'] as const)(
    'and the client disconnects, for a model with policy %s',
    async (onDisconnect) => {
      for (const answer of [{ paceMs: 100 }, cut]) {
        const stage = await scene.stage({ onDisconnect });
        stage.script(streamAnswer([LONG, 'a', 'b'], answer));
        const { socket } = await ask(stage);
        await untilEnded(stage);
        socket.destroy();
        const call = await stage.settledCall();
        const isRead = onDisconnect === 'drain' && answer !== cut;
        expect(call).toMatchObject({ outcome: 'aborted', usage: { source: isRead ? 'reported' : 'counted' } });
        expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
      }
    },
    60_000,
  );

  test('and the client never reads: it is settled after the maximum time of a call', async () => {
    const short = await startScene({
      environment: { ...environment, MODELPORT_WHOLE_TIMEOUT_MS: String(SHORT_WHOLE_MS) },
    });
    try {
      const stage = await short.stage();
      stage.script(streamAnswer([LONG, 'a', 'b'], { paceMs: 100 }));
      const { socket } = await ask(stage, {}, undefined, short);
      for (const end = performance.now() + 30_000; stage.journal().length === 0 && performance.now() < end; )
        await Bun.sleep(10);
      expect(await stage.settledCall()).toMatchObject({ outcome: 'broken', errorCode: 'upstream_timeout' });
      socket.destroy();
      await short.assertClean();
    } finally {
      await short.close();
    }
  }, 60_000);
});

describe('on one connection', () => {
  test('two pipelined streams arrive one after the other, completely', async () => {
    const stage = await scene.stage();
    stage.script(streamAnswer(LINES.slice(0, 3)), streamAnswer(['short']));
    const client = await ask(stage);
    client.socket.write(client.request);
    const bytes = await client.until((last) => last.includes('short') && last.endsWith('\r\n0\r\n\r\n'));
    const second = bytes.indexOf('HTTP/1.1 200', 1);
    expect(textsOf(unchunked(bytes.subarray(0, second)).toString())[0]).toBe(LINES.slice(0, 3).join(''));
    expect(textsOf(unchunked(bytes.subarray(second)).toString())[0]).toBe('short');
    expect((await stage.settled()).map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    client.socket.destroy();
  }, 60_000);

  test('a stream over HTTP/1.0 continues until the connection is closed', async () => {
    const stage = await scene.stage();
    stage.script(streamAnswer(LINES.slice(0, 3)));
    const client = await ask(stage, {}, 'POST /v1/chat/completions HTTP/1.0');
    const text = (await client.until(() => false)).toString();
    expect(text).not.toContain('transfer-encoding');
    expect(text).toEndWith('data: [DONE]\n\n');
    expect(textsOf(text.slice(text.indexOf('\r\n\r\n') + 4))[0]).toBe(LINES.slice(0, 3).join(''));
    await stage.settledCall();
  }, 60_000);
});

test("keep-alives are sent only during the stream's silence, not after its end", async () => {
  const stage = await scene.stage();
  stage.script(streamAnswer(['one ', 'two'], { fault: { before: 2, does: 2 * KEEP_ALIVE_MS } }));
  const response = await stage.post('/v1/chat/completions', chatRequest(stage.model, { stream: true }));
  let kept = 0;
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString();
    if (text.includes('\n:')) kept ||= Date.now();
  }
  const over = Date.now();
  // The provider sends the first text when it has the request.
  const atMs = stage.journal()[0]?.atMs ?? 0;
  text = withoutCost(text, await stage.settledCall());
  const comments = text.split('\n\n').filter((event) => event.startsWith(':'));
  expect(comments.length).toBeWithin(1, (over - atMs) / KEEP_ALIVE_MS + 2);
  expect(kept - atMs).toBeGreaterThan(KEEP_ALIVE_MS - 50);
  expect(text.slice(text.indexOf('two'))).not.toContain('\n:');
  expect(text).toEndWith('data: [DONE]\n\n');
});
