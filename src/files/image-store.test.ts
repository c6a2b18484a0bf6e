import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { useTempFolder } from '../../test/helpers/temp-folder.ts';
import type { Files } from './files.ts';
import { folderFiles } from './folder-files.ts';
import { createImageStore, readImageName, removeExpiredImages } from './image-store.ts';

// Each image is synced to disk before it gets a URL.
setDefaultTimeout(30_000);

const HOUR = 3_600_000;
const folder = useTempFolder('images');

let files: Files;
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  files = folderFiles(folder);
});

const storeAt = (at: number) =>
  createImageStore(files, { publicUrl: 'https://models.test', keepMs: HOUR, now: () => at });
const nameIn = (address: string) => address.slice(address.lastIndexOf('/') + 1);

async function left(): Promise<string[]> {
  const names: string[] = [];
  for await (const name of files.names('')) names.push(name);
  return names;
}

describe('a stored image', () => {
  test('has a URL that contains only its expiry and type', async () => {
    const address = await storeAt(1000).put(Buffer.from('abc'), 'image/webp');
    expect(address).toMatch(/^https:\/\/models\.test\/files\/image_[0-9a-z]{9}w_[0-9A-Za-z]{32}$/);
    const name = nameIn(address);
    expect(readImageName(name)).toEqual({ endsAt: 1000 + HOUR, mimeType: 'image/webp' });
    expect(await new Response(files.read(name, { start: 0, end: 3 })).text()).toBe('abc');
    expect(readImageName(nameIn(await storeAt(1000).put(Buffer.from('abc'), 'image/x')))?.mimeType).toBe(
      'application/octet-stream',
    );
    for (const other of [name.slice(1), `${name}0`, name.replace('w_', 'z_'), 'file_x', '../x', ''])
      expect(readImageName(other)).toBeUndefined();
  });

  test('is removed after its expiry, and no other file is', async () => {
    async function* one() {
      yield Buffer.from('video');
    }
    await files.write('file_film', one(), 10);
    for (const at of [HOUR, 0, 2 * HOUR]) await storeAt(at).put(Buffer.from('abc'), 'image/png');
    await removeExpiredImages(files, HOUR);
    expect((await left()).map((name) => readImageName(name)?.endsAt)).toEqual([undefined, 2 * HOUR, 3 * HOUR]);
    await removeExpiredImages(files, 100 * HOUR);
    expect(await left()).toEqual(['file_film']);
  });

  test('is read and removed under the name prefix of earlier versions too', async () => {
    async function* one() {
      yield Buffer.from('abc');
    }
    const name = nameIn(await storeAt(0).put(Buffer.from('abc'), 'image/png'));
    const earlier = name.replace(/^image_/, 'picture_');
    await files.write(earlier, one(), 10);
    expect(readImageName(earlier)).toEqual({ endsAt: HOUR, mimeType: 'image/png' });
    await removeExpiredImages(files, 0);
    expect((await left()).sort()).toEqual([name, earlier].sort());
    await removeExpiredImages(files, 2 * HOUR);
    expect(await left()).toEqual([]);
  });

  test('is removed if it is incomplete', async () => {
    const stuck = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.from('abc');
      await stuck.promise;
    }
    const whole = nameIn(await storeAt(0).put(Buffer.from('abc'), 'image/png'));
    await files.remove(whole);
    const writing = files.write(whole, slow(), 10).catch(() => {});
    while ((await left()).length === 0) await Bun.sleep(5);
    await removeExpiredImages(files, 2 * HOUR);
    expect(await left()).toEqual([]);
    stuck.resolve();
    await writing;
  });
});
