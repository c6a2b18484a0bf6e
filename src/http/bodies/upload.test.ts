/** Forms parsed while they arrive: large files go to disk, and nothing remains there. */
import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { formBytes } from '../../../test/helpers/form-bytes.ts';
import { useTempFolder } from '../../../test/helpers/temp-folder.ts';
import type { Upload } from '../../canonical/upload.ts';
import type { ArrivingBody } from './body.ts';
import { receiveForm } from './upload.ts';

const folder = useTempFolder('upload');
const MIB = 1024 * 1024;
const AUDIO = Buffer.from(Array.from({ length: 3 * MIB }, (_, place) => (place * 31) % 253));

const formOf = (audio: Uint8Array) =>
  formBytes(
    [
      { name: 'file', filename: 'a.wav', contentType: 'audio/wav', bytes: audio },
      { name: 'model', bytes: Buffer.from('m') },
    ],
    'b',
  );

function inPieces(bytes: Uint8Array, size = 70_001): ArrivingBody {
  let at = 0;
  return {
    length: undefined,
    get isRead() {
      return at >= bytes.length;
    },
    read() {
      const piece = at < bytes.length ? bytes.subarray(at, at + size) : undefined;
      at += size;
      return Promise.resolve(piece);
    },
  };
}

async function all(upload: Upload | undefined): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of upload?.open() ?? []) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

describe('a form that arrives in pieces', () => {
  test.each([3 * MIB, 1000, 256 * 1024, 256 * 1024 + 1])(
    '%p bytes are read exactly, twice, and no file has a name',
    async (size) => {
      const audio = AUDIO.subarray(0, size);
      const { form, release } = await receiveForm(inPieces(formOf(audio)), 'b', 8 * MIB, folder);
      expect(form.fields).toEqual([['model', 'm']]);
      const [file] = form.files;
      expect(file).toMatchObject({ name: 'file', filename: 'a.wav', contentType: 'audio/wav' });
      expect(file?.upload.size).toBe(size);
      expect(Buffer.from(file!.upload.head).equals(audio.subarray(0, 4096))).toBe(true);
      expect((await all(file?.upload)).equals(audio)).toBe(true);
      expect((await all(file?.upload)).equals(audio)).toBe(true);
      expect(readdirSync(folder)).toEqual([]);
      release();
      release();
    },
  );

  test('a released form leaves no open file', async () => {
    const { form, release } = await receiveForm(inPieces(formOf(AUDIO)), 'b', 8 * MIB, folder);
    release();
    const isReadable = () =>
      all(form.files[0]?.upload).then(
        () => true,
        () => false,
      );
    // Closing takes a moment; without it this would never end.
    while (await isReadable());
  });

  test('a form that is too large, incomplete, or has too large fields is refused', async () => {
    const whole = formOf(AUDIO);
    await expect(receiveForm(inPieces(whole), 'b', 2 * MIB, folder)).rejects.toMatchObject({
      code: 'request_too_large',
    });
    const cut = inPieces(whole.subarray(0, 2 * MIB));
    await expect(receiveForm(cut, 'b', 8 * MIB, folder)).rejects.toMatchObject({ code: 'invalid_request' });
    const field = formBytes([{ name: 'prompt', bytes: AUDIO }], 'b');
    await expect(receiveForm(inPieces(field), 'b', 8 * MIB, folder)).rejects.toMatchObject({
      code: 'request_too_large',
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('an upload folder that cannot be written is reported as an internal error', async () => {
    const nowhere = join(import.meta.path, 'nowhere');
    await expect(receiveForm(inPieces(formOf(AUDIO)), 'b', 8 * MIB, nowhere)).rejects.toThrow('ENOTDIR');
  });
});
