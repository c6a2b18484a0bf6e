import { expect, test } from 'bun:test';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useTempFolder } from '../../test/helpers/temp-folder.ts';
import { folderFiles } from './folder-files.ts';

const folder = useTempFolder('files');
const files = folderFiles(folder);

async function* pieces(...texts: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (typeof text !== 'string') throw text;
    yield new TextEncoder().encode(text);
  }
}
const textOf = (name: string, start: number, end: number) => new Response(files.read(name, { start, end })).text();
const everything = () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());

test('a file is written in pieces, read in parts, and removed repeatedly', async () => {
  expect(await files.size('file_a')).toBeUndefined();
  expect(await files.write('file_a', pieces('one ', 'two'), 100)).toBe(7);
  expect(await files.size('file_a')).toBe(7);
  expect(await textOf('file_a', 0, 7)).toBe('one two');
  expect(await textOf('file_a', 4, 6)).toBe('tw');
  await files.remove('file_a');
  await files.remove('file_a');
  expect(await files.size('file_a')).toBeUndefined();
});

test('a file that is too large, or whose source fails, leaves nothing behind', async () => {
  await expect(files.write('file_b', pieces('12345', '6'), 5)).rejects.toMatchObject({
    code: 'upstream_failed',
    retryable: false,
  });
  expect(await files.write('file_c', pieces('12345'), 5)).toBe(5);
  await files.remove('file_c');
  await expect(files.write('file_d', pieces('1', new Error('gone')), 5)).rejects.toThrow('gone');
  expect(everything()).toEqual([]);
});

test('a disk that takes a part of a piece is an error, not a shorter file', () => {
  const program = join(folder, 'write.ts');
  writeFileSync(
    program,
    `import { folderFiles } from ${JSON.stringify(join(import.meta.dir, 'folder-files.ts'))};
    async function* pieces() {
      for (let piece = 0; piece < 4; piece++) yield new Uint8Array(3000);
    }
    const files = folderFiles(process.argv[2]);
    const outcome = await files.write('file_f', pieces(), 1e9).catch((thrown) => thrown.code);
    console.log(JSON.stringify([outcome, (await files.size('file_f')) ?? null]));`,
  );
  // Files of 20 blocks of 512 bytes at most: the last piece has room in part.
  const script = 'trap "" XFSZ; ulimit -f 20 && exec "$@"';
  const into = join(folder, 'full');
  const { stdout } = Bun.spawnSync(['sh', '-c', script, 'sh', process.execPath, program, into], { stdout: 'pipe' });
  expect(JSON.parse(stdout.toString())).toEqual(['EFBIG', null]);
  rmSync(into, { recursive: true });
  rmSync(program);
});

test('a file is not visible until it is complete', async () => {
  const gate = Promise.withResolvers<void>();
  async function* slow() {
    yield new Uint8Array(3);
    await gate.promise;
  }
  const writing = files.write('file_e', slow(), 10);
  await Bun.sleep(20);
  expect(await files.size('file_e')).toBeUndefined();
  gate.resolve();
  await writing;
  expect(await files.size('file_e')).toBe(3);
});

test('two that write the same file do not mix their parts', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  async function* held(text: string, gate: Promise<void>) {
    yield new TextEncoder().encode(text.slice(0, 2));
    await gate;
    yield new TextEncoder().encode(text.slice(2));
  }
  const begun = (text: string, gate: Promise<void>) => {
    const writing = files.write('file_two', held(text, gate), 100);
    writing.catch(() => {});
    return writing;
  };
  const whole = ['first', 'the second'];
  const first = begun('first', gates[0].promise);
  // Both have written a part, as when a process was suspended and another took its work over.
  const parts = () => everything().filter(({ name }) => name.endsWith('.part'));
  for (const end = Date.now() + 30_000; parts().length === 0 && Date.now() < end; ) await Bun.sleep(1);
  const second = begun('the second', gates[1].promise);
  await Bun.sleep(0);
  gates[0].resolve();
  await first.catch(() => {});
  const size = await files.size('file_two');
  if (size !== undefined) expect(whole).toContain(await textOf('file_two', 0, size));
  gates[1].resolve();
  await second;
  expect(await textOf('file_two', 0, 100)).toBe('the second');
  await files.remove('file_two');
  expect(parts()).toEqual([]);
});
