import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startTaskBench, type TaskBench } from '../../test/helpers/task-deps.ts';
import { VIDEO, videoAnswer } from '../../test/helpers/videos.ts';
import type { FoundOutput } from '../canonical/task.ts';
import { openai } from '../providers/chat/openai.ts';
import { download } from './download.ts';

let bench: TaskBench;
beforeAll(async () => {
  bench = await startTaskBench([]);
});
afterAll(() => bench.close());

const fetched = (found: FoundOutput, file = 'file_test') => {
  const target = { model: 'm', baseUrl: `${bench.upstream.url}/v1`, credential: 'sk-secret', settings: {} };
  return download(bench.deps, openai, target, file, found);
};
const to = (location: string) => ({ status: 302, headers: { location } });
const keysSent = (prefix: string) => bench.upstream.journal(prefix).map(({ headers }) => headers.authorization);

test('the provider’s credential is sent to its own URLs that require it, and never to a redirect target', async () => {
  const { upstream } = bench;
  upstream.script('/v1/video', to('/elsewhere/video'));
  upstream.script('/elsewhere/video', { ...videoAnswer, repeat: true });
  expect(await fetched({ url: `${upstream.url}/v1/video`, signed: true })).toEqual({
    mimeType: 'video/mp4',
    bytes: VIDEO.length,
  });
  expect(keysSent('/v1/video')).toEqual(['Bearer sk-secret']);
  expect(keysSent('/elsewhere/video')).toEqual([undefined]);

  upstream.script('/own/video', { ...videoAnswer, repeat: true });
  await fetched({ url: `${upstream.url}/own/video`, signed: true });
  await fetched({ url: `${upstream.url}/own/video` });
  // Another origin on the same machine.
  await fetched({ url: `${upstream.url.replace('127.0.0.1', 'localhost')}/own/video`, signed: true });
  expect(keysSent('/own/video')).toEqual(['Bearer sk-secret', undefined, undefined]);
});

test('a download that redirects too often fails and may be tried again', async () => {
  bench.upstream.script('/round', { ...to('/round'), repeat: true });
  await expect(fetched({ url: `${bench.upstream.url}/round` })).rejects.toMatchObject({ retryable: true });
  expect(bench.upstream.journal('/round')).toHaveLength(6);
});

test('a compressed response is stored decompressed', async () => {
  bench.upstream.script('/packed', { ...videoAnswer, gzip: true });
  expect(await fetched({ url: `${bench.upstream.url}/packed` }, 'file_packed')).toMatchObject({ bytes: VIDEO.length });
});

test('a video inside the response is stored unchanged, with the media type of the provider', async () => {
  const base64 = VIDEO.toString('base64');
  expect(await fetched({ base64, mimeType: 'video/webm' }, 'file_inside')).toEqual({
    mimeType: 'video/webm',
    bytes: VIDEO.length,
  });
  const kept = bench.deps.files.read('file_inside', { start: 0, end: VIDEO.length });
  expect(await new Response(kept).text()).toBe(VIDEO.toString());
});
