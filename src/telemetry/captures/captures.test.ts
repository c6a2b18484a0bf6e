/** Captured payloads: encrypted, kept for some days, and dropped where their storage does not keep up. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBucket } from '../../../test/helpers/bucket.ts';
import type { CaptureMode } from '../../canonical/capture-mode.ts';
import { bucketFiles } from '../../files/bucket-files.ts';
import type { Files } from '../../files/files.ts';
import { folderFiles } from '../../files/folder-files.ts';
import type { ByteSink, ByteSource } from '../../http1/answer.ts';
import { createCredentialCipher } from '../../store/credential-cipher.ts';
import { type CaptureSettings, type Captures, createCaptures } from './captures.ts';

const NOON = Date.UTC(2026, 10, 23, 12);
const DAY = 86_400_000;
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-captures-'));
  folders.push(folder);
  return folder;
}

const CIPHER = createCredentialCipher({ read: () => ({ current: 'a key', previous: [] }), make: () => 'a key' });
const lost: string[] = [];

function open(files: Files, more: Partial<CaptureSettings> = {}): Captures {
  const report = (sentence: string) => void lost.push(sentence);
  return createCaptures({ files, cipher: CIPHER, maxBytes: 1000, keepDays: 7, now: () => NOON, lost: report, ...more });
}

function begin(captures: Captures, id: string, mode: Exclude<CaptureMode, 'none'>, request: string, at = NOON) {
  const secrets = () => ({ credentials: ['operators-credential'], addresses: [], settings: {} });
  const call = { id, at, account: 'acct_1', key: 'key_1', model: 'm', format: 'openai-chat', mode, secrets };
  return captures.begin(call, Buffer.from(request));
}

const answer = (body: string) => ({ status: 200, headers: { 'content-type': 'application/json' }, body });
const REQUEST = '{"messages":[{"role":"user","content":"a question"}]}';
const countOf = (captures: Captures, name: string) =>
  captures
    .families()
    .find((family) => family.name === name)
    ?.samples.map(({ labels, value }) => [...labels, value]);

const bucket = await startBucket();
afterAll(() => bucket.close());

describe.each([
  ['a folder', () => folderFiles(newFolder())],
  ['a bucket', () => bucketFiles({ ...bucket.settings, endpoint: bucket.endpoint })],
])('in %s', (_, openFiles) => {
  test('each mode stores what it names, and the retention removes it', async () => {
    const files = openFiles();
    let clock = NOON;
    const captures = open(files, { now: () => clock });
    begin(captures, 'req_hash', 'hash', REQUEST).answer(answer('{"a":"reply"}'));
    begin(captures, 'req_redacted', 'redacted', REQUEST).answer(answer('{"a":"reply"}'));
    begin(captures, 'req_full', 'full', REQUEST).answer(answer('{"a":"operators-credential is invalid"}'));
    begin(captures, 'req_large', 'full', 'ä'.repeat(501)).answer(answer('{"a":"reply"}'));
    begin(captures, 'req_part', 'redacted', JSON.stringify({ content: 'x'.repeat(1000) })).answer(answer(''));
    await captures.drain(30_000);
    const read = (id: string) => captures.read({ id, at: NOON });
    expect(await read('req_hash')).toEqual({
      ...{ call: 'req_hash', at: '2026-11-23T12:00:00.000Z', account: 'acct_1', key: 'key_1', model: 'm' },
      ...{ format: 'openai-chat', capture: 'hash' },
      request: { bytes: REQUEST.length, sha256: new Bun.CryptoHasher('sha256').update(REQUEST).digest('hex') },
      reply: {
        ...{ status: 200, contentType: 'application/json', end: 'complete', bytes: 13 },
        sha256: new Bun.CryptoHasher('sha256').update('{"a":"reply"}').digest('hex'),
      },
    });
    expect(await read('req_redacted')).toMatchObject({
      request: { content: { messages: [{ role: 'user', content: '[text 10]' }] } },
      reply: { content: { a: '[text 5]' } },
    });
    expect(await read('req_full')).toMatchObject({
      request: { text: REQUEST },
      reply: { text: '{"a":"[key] is invalid"}' },
    });
    // Half a letter is at the limit.
    expect(await read('req_large')).toMatchObject({ request: { bytes: 1002, truncated: true, text: 'ä'.repeat(500) } });
    expect(await read('req_part')).toMatchObject({ request: { removed: 'too large' } });
    expect(await captures.read({ id: 'req_other', at: NOON })).toBeUndefined();

    begin(captures, 'req_later', 'hash', REQUEST, NOON + DAY).answer(answer(''));
    await captures.drain(30_000);
    clock = Date.UTC(2026, 11, 1) - 1;
    await captures.sweep(clock);
    expect(await read('req_hash')).toBeDefined();
    // Not shown from then on, and removed by the next sweep.
    clock++;
    expect(await read('req_hash')).toBeUndefined();
    await captures.sweep(clock);
    const left: string[] = [];
    for await (const name of files.names('payload_')) left.push(name);
    expect(left).toEqual(['payload_20261124_req_later']);
    await files.remove('payload_20261124_req_later');
  });
});

test('nothing of it can be read on disk; an altered or moved file is an error', async () => {
  const folder = newFolder();
  const captures = open(folderFiles(folder));
  begin(captures, 'req_1', 'full', REQUEST).answer(answer('{"a":"reply"}'));
  await captures.drain(30_000);
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const path = join(names[0]!.parentPath, names[0]!.name);
  const bytes = readFileSync(path);
  for (const text of ['question', 'messages', 'reply', 'acct_1']) expect(bytes.includes(text)).toBe(false);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(path, bytes);
  await expect(captures.read({ id: 'req_1', at: NOON })).rejects.toThrow();
  bytes[bytes.length - 1]! ^= 1;
  const moved = folderFiles(folder);
  async function* pieces() {
    yield bytes;
  }
  await moved.write('payload_20261123_req_2', pieces(), 10_000);
  await expect(captures.read({ id: 'req_2', at: NOON })).rejects.toThrow();
});

/** Writes nothing until it is opened. */
function slowFiles(): Files & { open(): void } {
  const gate = Promise.withResolvers<void>();
  const folder = folderFiles(newFolder());
  const write: Files['write'] = async (...args) => {
    await gate.promise;
    return folder.write(...args);
  };
  return { ...folder, write, open: gate.resolve };
}

test('a slow storage holds a bounded memory, and what is above it is dropped and counted', async () => {
  const files = slowFiles();
  const captures = open(files, { queue: { bytes: 2500, writers: 1 } });
  const body = 'x'.repeat(500);
  // Each needs 1000 bytes: the third is dropped.
  for (const id of ['req_1', 'req_2', 'req_3']) begin(captures, id, 'full', body).answer(answer(body));
  begin(captures, 'req_4', 'hash', body).answer(answer(body));
  expect(countOf(captures, 'modelport_captures_dropped_total')).toEqual([['queue_full', 1]]);
  expect(countOf(captures, 'modelport_capture_queue_bytes')).toEqual([[2000]]);
  expect(lost.pop()).toContain('does not keep up');
  files.open();
  await captures.drain(30_000);
  expect(countOf(captures, 'modelport_capture_queue_bytes')).toEqual([[0]]);
  expect(await captures.read({ id: 'req_2', at: NOON })).toBeDefined();
  expect(await captures.read({ id: 'req_3', at: NOON })).toBeUndefined();
  expect(await captures.read({ id: 'req_4', at: NOON })).toBeDefined();
});

test('a storage that fails or never answers loses captures, and stops nothing', async () => {
  bucket.fail(500);
  const failing = open(bucketFiles({ ...bucket.settings, endpoint: bucket.endpoint }));
  begin(failing, 'req_1', 'full', REQUEST).answer(answer('{}'));
  await failing.drain(30_000);
  bucket.fail(undefined);
  expect(countOf(failing, 'modelport_captures_dropped_total')).toEqual([['failed', 1]]);
  const mute = open(slowFiles(), { queue: { writers: 1, writeMs: 1 } });
  begin(mute, 'req_1', 'full', REQUEST).answer(answer('{}'));
  begin(mute, 'req_2', 'full', REQUEST).answer(answer('{}'));
  await mute.drain(30_000);
  expect(countOf(mute, 'modelport_captures_dropped_total')).toEqual([['failed', 2]]);
  expect(countOf(mute, 'modelport_capture_queue_bytes')).toEqual([[0]]);
});

test('a redacted payload has no key where a format has names and ids', async () => {
  const captures = open(folderFiles(newFolder()));
  const key = 'sk-abcdefghijklmnop';
  const request = JSON.stringify({ model: `w/${key}`, metadata: { [key]: 1 }, [key]: 2 });
  const reply = { id: 'operators-credential', 'operators-credential': 1, choices: [{ text: 'Hello' }] };
  begin(captures, 'req_1', 'redacted', request).answer(answer(JSON.stringify(reply)));
  begin(captures, 'req_2', 'redacted', request).answer(answer(`data: ${JSON.stringify(reply)}\n\n`));
  await captures.drain(30_000);
  const content = { id: '[key]', '[key]': '[removed]', choices: [{ text: '[text 5]' }] };
  expect(await captures.read({ id: 'req_1', at: NOON })).toMatchObject({
    request: { content: { model: '[text 21]', metadata: { '[name 19]': '[number]' }, '[name 19]': 2 } },
    reply: { content },
  });
  expect(await captures.read({ id: 'req_2', at: NOON })).toMatchObject({ reply: { content: [content] } });
});

test('a stream passes unchanged and at once, whatever becomes of its capture', async () => {
  const captures = open(folderFiles(newFolder()), { queue: { bytes: 200 } });
  const events: string[] = [];
  const sink: ByteSink = {
    write(bytes) {
      events.push(Buffer.from(bytes).toString());
      return events.length < 3;
    },
    end: (bytes) => void events.push(`end ${Buffer.from(bytes ?? []).toString()}`),
    fail: () => void events.push('fail'),
  };
  let given: ByteSink | undefined;
  const source: ByteSource = {
    start: (to) => {
      given = to;
    },
    resume: () => void events.push('resume'),
    cancel: () => void events.push('cancel'),
  };
  const streamed = (id: string, request: string) => {
    const { body } = begin(captures, id, 'full', request).answer({ status: 200, headers: {}, body: source });
    (body as ByteSource).start(sink);
    return body as ByteSource;
  };
  const buffer = Buffer.from('data: 1\n\n');
  streamed('req_1', 'r').resume();
  expect(given!.write(buffer)).toBe(true);
  // The buffer is used again.
  buffer.fill('x');
  expect(given!.write(Buffer.from('data: 2\n\n'))).toBe(false);
  given!.end(Buffer.from('data: [DONE]\n\n'));
  await captures.drain(30_000);
  expect(events).toEqual(['resume', 'data: 1\n\n', 'data: 2\n\n', 'end data: [DONE]\n\n']);
  const all = 'data: 1\n\ndata: 2\n\ndata: [DONE]\n\n';
  expect(await captures.read({ id: 'req_1', at: NOON })).toMatchObject({ reply: { text: all, end: 'complete' } });

  streamed('req_2', 'r');
  given!.write(Buffer.from('x'.repeat(300)));
  given!.fail();
  expect(events.at(-1)).toBe('fail');
  const leaving = streamed('req_3', 'r');
  given!.write(Buffer.from('data: 1\n\n'));
  leaving.cancel();
  await captures.drain(30_000);
  expect(await captures.read({ id: 'req_2', at: NOON })).toBeUndefined();
  expect(await captures.read({ id: 'req_3', at: NOON })).toMatchObject({ reply: { end: 'left', bytes: 9 } });
  expect(countOf(captures, 'modelport_captures_dropped_total')).toEqual([['queue_full', 1]]);
});

test('a credential of the operator that the limit cuts in two is removed', async () => {
  const captures = open(folderFiles(newFolder()), { maxBytes: 20 });
  begin(captures, 'req_1', 'full', REQUEST).answer(answer('it says operators-credential'));
  begin(captures, 'req_2', 'full', REQUEST).answer(answer('it says something else here'));
  await captures.drain(30_000);
  expect(await captures.read({ id: 'req_1', at: NOON })).toMatchObject({
    reply: { text: 'it says [key]', truncated: true },
  });
  expect(await captures.read({ id: 'req_2', at: NOON })).toMatchObject({ reply: { text: 'it says something el' } });
});

test('a payload that is removed while it is read is not found', async () => {
  const folder = folderFiles(newFolder());
  const captures = open({
    ...folder,
    read: (name, range) =>
      new ReadableStream({
        async start(controller) {
          await folder.remove(name);
          for await (const piece of folder.read(name, range)) controller.enqueue(piece);
          controller.close();
        },
      }),
  });
  begin(captures, 'req_1', 'full', REQUEST).answer(answer('{}'));
  await captures.drain(30_000);
  expect(await captures.read({ id: 'req_1', at: NOON })).toBeUndefined();
});

test('storage that hangs is not called again and again', async () => {
  const files = slowFiles();
  let writes = 0;
  const counted: Files = {
    ...files,
    write(...args) {
      writes++;
      return files.write(...args);
    },
  };
  const captures = open(counted, { queue: { writers: 2, writeMs: 1 } });
  for (let place = 0; place < 20; place++) begin(captures, `req_${place}`, 'full', REQUEST).answer(answer('{}'));
  await captures.drain(30_000);
  // After four that hang nothing is written. The other writer may have begun a fifth before the fourth was given up.
  expect([4, 5]).toContain(writes);
  expect(countOf(captures, 'modelport_captures_dropped_total')).toEqual([['failed', 20]]);
  files.open();
  // What hung has ended: captures are stored again.
  for (const end = Date.now() + 30_000; writes < 5 && Date.now() < end; await Bun.sleep(1)) {
    begin(captures, 'req_after', 'full', REQUEST).answer(answer('{}'));
    await captures.drain(30_000);
  }
  expect(writes).toBeGreaterThan(4);
});
