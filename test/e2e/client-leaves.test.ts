/** Disconnecting early is not free: before any output the input is charged, and after the last choice its usage is awaited. */
import { describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { chatRequest, streamAnswer, wholeAnswer } from '../helpers/chat-answers.ts';
import { readUntil } from '../helpers/read-until.ts';
import { nanoCost, type Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const scene = useScene({ environment: { MODELPORT_DISCONNECT_DRAIN_MS: '1000' } });

const SILENT = { fault: { before: 'headers', does: 'silence' } } as const;

/** A client on its own socket, which disconnects on command. */
async function leaving(stage: Stage, path: string, body: object, how: 'close' | 'half close', when: () => boolean) {
  const { hostname, port } = new URL(scene.gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  let seen = '';
  socket.on('data', (bytes) => {
    seen += bytes.toString('latin1');
  });
  socket.on('error', () => {});
  const text = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: gateway',
    `authorization: Bearer ${stage.caller.key}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
  for (const end = performance.now() + 30_000; !when() && performance.now() < end; ) await Bun.sleep(5);
  if (how === 'close') socket.destroy();
  else socket.end();
  const call = await stage.settledCall();
  socket.destroy();
  return { call, seen };
}

describe.each(['close', 'half close'] as const)('the client disconnects by %s after its request was sent', (how) => {
  test.each([false, true])('and before any output (stream: %p): the estimated input is charged', async (stream) => {
    const stage = await scene.stage();
    stage.script(wholeAnswer('x', SILENT));
    const long = 'word '.repeat(2000);
    const body = { model: stage.model, stream, messages: [{ role: 'user', content: long }] };
    const { call } = await leaving(stage, '/v1/chat/completions', body, how, () => stage.journal().length > 0);
    expect(call).toMatchObject({ outcome: 'aborted', usage: { source: 'estimated', output: 0 } });
    expect(call.usage?.input).toBeGreaterThan(2000);
    expect(nanoCost(call)).toBe(BigInt(call.usage?.input ?? 0) * 1000n);
  });
});

test.each([
  ['embeddings', 'embed', (model: string) => ({ model, input: 'word '.repeat(500) })],
  ['moderations', 'moderation', (model: string) => ({ model, input: 'word '.repeat(500) })],
])('a client of %s that disconnects pays its input too', async (path, kind, body) => {
  const stage = await scene.stage({ kind, price: { input: 1 } });
  stage.script(wholeAnswer('x', SILENT));
  const sent = () => stage.journal().length > 0;
  const { call } = await leaving(stage, `/v1/${path}`, body(stage.model), 'close', sent);
  expect(call).toMatchObject({ outcome: 'aborted', usage: { source: 'estimated' } });
  expect(nanoCost(call)).toBeGreaterThan(500_000n);
});

test('with several choices as separate upstream calls, the input of each is charged', async () => {
  const one = await leavingCall(1);
  const three = await leavingCall(3);
  expect(one).toBeGreaterThan(0);
  expect(three).toBe(3 * one);

  async function leavingCall(n: number): Promise<number> {
    const own = await scene.stage({ type: 'anthropic' });
    for (let i = 0; i < n; i++) own.script(wholeAnswer('x', SILENT));
    const body = chatRequest(own.model, { n });
    const { call } = await leaving(own, '/v1/chat/completions', body, 'close', () => own.journal().length === n);
    return call.usage?.input ?? 0;
  }
});

test('before the request was sent nothing is charged', async () => {
  // It accepts connections and never completes a TLS handshake, so no request is sent.
  let isConnected = false;
  const deaf = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open() {
        isConnected = true;
      },
      data() {},
    },
  });
  const stage = await scene.stage({ baseUrls: [`https://127.0.0.1:${deaf.port}/v1`] });
  const { call } = await leaving(stage, '/v1/chat/completions', chatRequest(stage.model), 'close', () => isConnected);
  deaf.stop(true);
  expect(call).toMatchObject({ outcome: 'aborted', cost: '0' });
  expect(call.usage).toBeUndefined();
});

test('if the upstream fails before its first byte nothing is charged, with or without the client', async () => {
  const stage = await scene.stage({ onDisconnect: 'drain' });
  stage.script({ ...wholeAnswer('x'), fault: { before: 'headers', does: 200 }, status: 500, json: { error: {} } });
  const sent = () => stage.journal().length > 0;
  const { call } = await leaving(stage, '/v1/chat/completions', chatRequest(stage.model), 'close', sent);
  expect(call).toMatchObject({ outcome: 'aborted', cost: '0' });
});

test.each([false, true])(
  'a client that disconnects has used the tokens of the sent request (stream: %p)',
  async (stream) => {
    const stage = await scene.stage();
    stage.script({ ...wholeAnswer('x', SILENT), repeat: true });
    const { key } = await scene.gateway.admin<{ key: string }>('POST', '/keys', {
      account: stage.caller.account,
      name: 'limited',
      tokensPerMinute: 60_000,
    });
    const body = {
      model: stage.model,
      stream,
      max_tokens: 10,
      messages: [{ role: 'user', content: 'word '.repeat(20_000) }],
    };
    const statuses: number[] = [];
    for (let i = 1; i <= 4; i++) {
      const abort = new AbortController();
      const answer = fetch(`${scene.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: abort.signal,
      });
      const status = answer.then(
        (response) => response.status,
        () => 499,
      );
      const isThere = status.then(() => true);
      for (const end = performance.now() + 30_000; stage.journal().length < i && performance.now() < end; ) {
        if (await Promise.race([isThere, Bun.sleep(5)])) break;
      }
      abort.abort();
      statuses.push(await status);
      await stage.settled();
    }
    expect(statuses).toEqual([499, 429, 429, 429]);
    expect(stage.journal()).toHaveLength(1);
  },
  60_000,
);

/** All text has arrived, but not the usage. */
const THOUGHTFUL = {
  prompt_tokens: 11,
  completion_tokens: 900,
  total_tokens: 911,
  completion_tokens_details: { reasoning_tokens: 893 },
};

describe.each(['abort', 'drain'] as const)(
  'a model with policy %s, all of whose choices have arrived',
  (onDisconnect) => {
    function answer(does: 'silence' | number) {
      const events = [...(streamAnswer(['Hello'], {}).events ?? [])];
      events[events.length - 1] = { ...(events.at(-1) as object), usage: THOUGHTFUL };
      return { events, fault: { before: events.length - 1, does } } as const;
    }
    const ask = (stage: Stage) => chatRequest(stage.model, { stream: true });

    test('waits for the usage and charges it', async () => {
      const stage = await scene.stage({ onDisconnect });
      stage.script(answer(500));
      const call = await leaveAtFinish(stage);
      expect(call).toMatchObject({ outcome: 'aborted', usage: { source: 'reported', output: 900, reasoning: 893 } });
      expect(nanoCost(call)).toBe(11n * 1000n + 900n * 4000n);
    });

    test('waits at most two seconds for the usage', async () => {
      const stage = await scene.stage({ onDisconnect });
      stage.script(answer('silence'));
      const started = performance.now();
      const settled = leaveAtFinish(stage);
      while (!stage.journal()[0]?.aborted && performance.now() - started < 30_000) await Bun.sleep(10);
      expect(performance.now() - started).toBeGreaterThan(1900);
      expect(performance.now() - started).toBeLessThan(15_000);
      expect(await settled).toMatchObject({ outcome: 'aborted', usage: { source: 'counted' } });
    });

    async function leaveAtFinish(stage: Stage) {
      const abort = new AbortController();
      const response = await stage.post('/v1/chat/completions', ask(stage), abort.signal);
      await readUntil(response, (seen) => seen.includes('"finish_reason":"stop"'));
      abort.abort();
      return stage.settledCall();
    }
  },
);
