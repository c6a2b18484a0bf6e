/** Bodies made to keep the process busy: the others are served meanwhile. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { chatReply } from '../helpers/chat-answers.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { processOf } from '../helpers/main-thread.ts';
import { messageAnswer } from '../helpers/message-answer.ts';

let gateway: GatewayProcess;
let upstream: ReturnType<typeof Bun.serve>;
const REPLY = chatReply('hi', [5, 1]);
const MESSAGE = messageAnswer('hi', { input_tokens: 5, output_tokens: 1 });

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: 2 ** 27,
    async fetch(request) {
      await request.arrayBuffer();
      return Response.json(request.url.endsWith('/messages') ? MESSAGE : REPLY);
    },
  });
  gateway = await startGateway({
    providers: [
      { name: 'up', type: 'openai-compatible', baseUrl: `http://127.0.0.1:${upstream.port}/v1` },
      { name: 'other', type: 'anthropic', baseUrl: `http://127.0.0.1:${upstream.port}`, credential: 'sk-up' },
    ],
    models: [
      {
        name: 'translated',
        kind: 'chat',
        price: { input: 0, output: 0 },
        maxOutputTokens: 10,
        targets: [{ provider: 'other', model: 'm' }],
      },
      {
        name: 'm',
        kind: 'chat',
        price: { input: 0, output: 0 },
        maxOutputTokens: 10,
        targets: [{ provider: 'up', model: 'm' }],
      },
    ],
    environment: { MODELPORT_LOG_LEVEL: 'error' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop(true);
});

/**
 * The slowest answer of /health from the request's first byte to a moment after its answer; asked for by a process of its own. Time in
 * which the gateway's main thread did not run is not counted: other processes had the processor.
 */
async function slowestHealth(ask: () => Promise<unknown>): Promise<number> {
  const program = `
    const { mainThreadMs } = await import(${JSON.stringify(join(import.meta.dir, '../helpers/main-thread.ts'))});
    const gateway = ${processOf(gateway.url)};
    let slowest = 0, stopped = false;
    process.stdin.once('data', () => { stopped = true; });
    console.log('up');
    while (!stopped) {
      const began = performance.now();
      const before = mainThreadMs(gateway);
      await (await fetch(${JSON.stringify(`${gateway.url}/health`)})).text();
      slowest = Math.max(slowest, Math.min(performance.now() - began, mainThreadMs(gateway) - before));
      await Bun.sleep(2);
    }
    console.log(slowest);`;
  const prober = Bun.spawn([process.execPath, '-e', program], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' });
  const lines = prober.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await lines.read();
  await ask();
  prober.stdin.write('stop');
  await prober.stdin.end();
  return Number((await lines.read()).value);
}

const list = (count: number, one: (place: number) => string) =>
  Array.from({ length: count }, (_, n) => one(n)).join(',');
const HI = '"messages":[{"role":"user","content":"hi"}]';
const CASES: [name: string, status: number, body: () => string][] = [
  ['1.2 million unknown members', 413, () => `{"model":"m",${HI},${list(1_200_000, (n) => `"member${n}":1`)}}`],
  [
    '1 million messages',
    413,
    () => `{"model":"m","messages":[${list(1_000_000, () => '{"role":"user","content":"a"}')}]}`,
  ],
  ['5 million levels', 400, () => `{"model":"m",${HI},"x":${'['.repeat(5e6)}${']'.repeat(5e6)}}`],
  ['60 MB of base64', 200, () => image(60_000_000)],
  // Bytes, not characters: two to each.
  [
    '60 MB beyond ASCII, translated',
    200,
    () => JSON.stringify({ model: 'translated', messages: [{ role: 'user', content: 'é'.repeat(30_000_000) }] }),
  ],
];
const image = (length: number) =>
  JSON.stringify({
    model: 'm',
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'iVBO'.repeat(length / 4)}` } }],
      },
    ],
  });

/** What else runs on the machine slows a single try. */
const TRIES = 4;

test.each(CASES)(
  '%s: answered %p, and /health within 250 ms',
  async (_, status, body) => {
    const bytes = Buffer.from(body());
    const slowest: number[] = [];
    while (slowest.length < TRIES && !(slowest.at(-1)! < 250)) {
      const ask = async () => {
        const response = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
          body: bytes,
        });
        expect({ status: response.status, text: status === 200 ? '' : await response.text() }).toMatchObject({
          status,
        });
      };
      slowest.push(await slowestHealth(ask));
    }
    expect(Math.min(...slowest)).toBeLessThan(250);
  },
  60_000,
);
