/** A video of 500 MB: downloaded and served in pieces, so memory use does not grow with its size. */
import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { nanoCost } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import { authorized, SECOND_PRICE, type VideoView, watch } from '../helpers/videos.ts';

const PIECE_BYTES = 1 << 20;
const PIECES = 500;
const MOST_GROWTH_BYTES = 150 << 20;

const scene = useScene({}, { checksEachTest: false });

const piece = (number: number) => new Uint8Array(PIECE_BYTES).fill(number % 251);
const digest = createHash('sha256');
for (let number = 0; number < PIECES; number++) digest.update(piece(number));
const WHOLE = digest.digest('hex');

/** A provider whose video is finished at the first poll. */
function startProvider() {
  let fetched = 0;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      if (!request.url.endsWith('/content')) {
        const status = request.method === 'POST' ? 'queued' : 'completed';
        return Response.json({ id: 'vid_upstream', object: 'video', status, progress: 0 });
      }
      fetched++;
      let number = 0;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (number === PIECES) controller.close();
          else controller.enqueue(piece(number++));
        },
      });
      return new Response(body, { headers: { 'content-type': 'video/mp4' } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, fetches: () => fetched, stop: () => server.stop(true) };
}

/** The gateway's memory use, from its metrics. */
async function memoryBytes(): Promise<number> {
  const metrics = await scene.gateway.metrics();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1]);
}

/** The highest memory use while `work` runs. */
async function mostDuring(work: () => Promise<unknown>): Promise<number> {
  let most = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, await memoryBytes());
      await Bun.sleep(50);
    }
  })();
  await work();
  isOver = true;
  await watching;
  return most;
}

test('kept, served and paid for within bounded memory', async () => {
  const provider = startProvider();
  const stage = await scene.stage({
    type: 'sandbox',
    kind: 'video',
    upstreamModel: 'm',
    baseUrls: [provider.url],
    price: SECOND_PRICE,
  });
  const before = await memoryBytes();
  const answer = await stage.post('/v1/videos', { model: stage.model, prompt: 'A cat', seconds: '4' });
  const { id } = (await answer.json()) as VideoView;
  const keeping = await mostDuring(async () => {
    const { last } = await watch(scene.gateway.url, stage, id, undefined, 120_000);
    expect(last.status).toBe('completed');
  });
  expect(nanoCost(await stage.settledCall())).toBe(400_000_000n);
  expect(provider.fetches()).toBe(1);

  const hash = createHash('sha256');
  const serving = await mostDuring(async () => {
    const content = await fetch(`${scene.gateway.url}/v1/videos/${id}/content`, { headers: authorized(stage) });
    expect(content.headers.get('content-length')).toBe(String(PIECES * PIECE_BYTES));
    for await (const chunk of content.body ?? []) hash.update(chunk);
  });
  expect(hash.digest('hex')).toBe(WHOLE);
  const megabytes = (bytes: number) => Math.round(bytes / 1e6);
  console.log(
    `a video of ${megabytes(PIECES * PIECE_BYTES)} MB: ${megabytes(before)} MB in use before, at most ${megabytes(keeping)} while it was kept, ${megabytes(serving)} while it was served`,
  );
  expect(keeping - before).toBeLessThan(MOST_GROWTH_BYTES);
  expect(serving - before).toBeLessThan(MOST_GROWTH_BYTES);
  await fetch(`${scene.gateway.url}/v1/videos/${id}`, { method: 'DELETE', headers: authorized(stage) });
  provider.stop();
}, 300_000);
