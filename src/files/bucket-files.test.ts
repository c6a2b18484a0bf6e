import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Bucket, startBucket } from '../../test/helpers/bucket.ts';
import { bucketFiles } from './bucket-files.ts';
import type { Files } from './files.ts';

let bucket: Bucket;
let files: Files;
beforeAll(async () => {
  bucket = await startBucket();
  files = bucketFiles({ ...bucket.settings, endpoint: bucket.endpoint });
});
afterAll(() => bucket.close());

const MEBIBYTE = 1 << 20;
/** This number of 64 KiB pieces with different bytes, then optionally an error. */
async function* pieces(many: number, thrown?: Error): AsyncGenerator<Uint8Array> {
  for (let made = 0; made < many; made++) yield new Uint8Array(65_536).fill(made);
  if (thrown) throw thrown;
}
const bytesOf = async (name: string, start: number, end: number) =>
  new Uint8Array(await new Response(files.read(name, { start, end })).arrayBuffer());

/** The client aborts an upload after it has reported the error. */
async function uploadsAreOver(): Promise<void> {
  for (const end = Date.now() + 30_000; bucket.openUploads > 0 && Date.now() < end; ) await Bun.sleep(1);
  expect(bucket.openUploads).toBe(0);
}

test('small files are written at once and large ones in parts with signed requests; they can be read in parts and removed', async () => {
  for (const [name, many] of [
    ['file_small', 2],
    ['file_large', 200],
  ] as const) {
    const size = many * 65_536;
    expect(await files.size(name)).toBeUndefined();
    expect(await files.write(name, pieces(many), 100 * MEBIBYTE)).toBe(size);
    expect(await files.size(name)).toBe(size);
    expect(bucket.objects.get(name)?.length).toBe(size);
    expect(await bytesOf(name, 65_530, 65_540)).toEqual(Uint8Array.from([0, 0, 0, 0, 0, 0, 1, 1, 1, 1]));
    expect(await bytesOf(name, size - 1, size)).toEqual(Uint8Array.from([many - 1]));
    await files.remove(name);
    await files.remove(name);
    expect(await files.size(name)).toBeUndefined();
  }
  expect(bucket.journal.some(({ path }) => path.includes('partNumber=3'))).toBe(true);
  expect(bucket.journal.filter(({ status }) => status === 403 || status === 400)).toEqual([]);
});

test('a file that is too large, or whose source fails, leaves nothing behind', async () => {
  await expect(files.write('file_b', pieces(200), MEBIBYTE)).rejects.toMatchObject({ code: 'upstream_failed' });
  await expect(files.write('file_c', pieces(2, new Error('gone')), MEBIBYTE)).rejects.toThrow('gone');
  await expect(files.write('file_d', pieces(200, new Error('gone')), 100 * MEBIBYTE)).rejects.toThrow('gone');
  expect(bucket.objects.size).toBe(0);
  await uploadsAreOver();
});

test.each([[2], [200]])(
  'of %i pieces, a file that breaks off is never visible and leaves the whole one that is there',
  async (many) => {
    const whole = new Uint8Array(9).fill(7);
    async function* nine() {
      yield whole;
    }
    await files.write('file_w', nine(), MEBIBYTE);
    const before = bucket.journal.length;
    await expect(files.write('file_w', pieces(many, new Error('gone')), 100 * MEBIBYTE)).rejects.toThrow('gone');
    expect(bucket.objects.get('file_w')).toEqual(Buffer.from(whole));
    await uploadsAreOver();
    const requests = bucket.journal.slice(before).filter(({ path }) => !/partNumber=|uploads=/.test(path));
    expect(requests.map(({ method }) => method)).toEqual(many > 100 ? ['DELETE'] : []);
    await files.remove('file_w');
  },
);

test('names with a prefix are listed in order over several pages', async () => {
  const names = Array.from({ length: 8 }, (_, place) => `image_${place}`);
  for (const name of ['file_a', ...names.toReversed()]) await files.write(name, pieces(1), MEBIBYTE);
  const found: string[] = [];
  for await (const name of files.names('image_')) found.push(name);
  expect(found).toEqual(names);
  expect(bucket.journal.filter(({ path }) => path.includes('list-type=2'))).toHaveLength(3);
  for await (const name of files.names('image_')) await files.remove(name);
  expect([...bucket.objects.keys()]).toEqual(['file_a']);
  await files.remove('file_a');
});

test('a failing bucket is not treated as empty', async () => {
  await files.write('file_e', pieces(1), MEBIBYTE);
  bucket.fail(500);
  await expect(files.size('file_e')).rejects.toMatchObject({ code: 'upstream_unavailable' });
  await expect(files.write('file_f', pieces(1), MEBIBYTE)).rejects.toThrow();
  await expect(files.remove('file_e')).rejects.toThrow();
  bucket.fail(undefined);
  expect(await files.size('file_e')).toBe(65_536);
});

test('a wrong key is refused', async () => {
  const strange = bucketFiles({ ...bucket.settings, endpoint: bucket.endpoint, secretAccessKey: 'another' });
  await expect(strange.write('file_g', pieces(1), MEBIBYTE)).rejects.toThrow();
  await expect(strange.size('file_g')).rejects.toMatchObject({ code: 'upstream_unavailable' });
});
