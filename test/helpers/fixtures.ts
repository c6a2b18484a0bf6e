/**
 * Recorded replies of providers, with their requests where those were kept. Two sets: our own below `test/recordings/`, which ships
 * (made from the sandbox, or written by hand after the providers' public references), and real traffic, read in place from a folder
 * outside the repository (`MODELPORT_FIXTURES`) where there is one.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { packEvent } from './event-stream.ts';

/** One recorded reply, as described by the manifest of the recordings. */
export interface RecordedCase {
  file: string;
  request_file?: string;
  provider: string;
  wire: string;
  endpoint: string;
  stream: boolean;
  status: number;
  features: string[];
  provenance: string;
  framing?: string;
  conversation?: string;
  turn?: number;
  parallel_group?: string;
  response_headers?: { [name: string]: string };
  /** What the official library of the same format reads of the recording itself. */
  native_sdk?: { raw?: string; helper?: string };
}

/** One of ours, with its source. */
export interface OwnRecording extends RecordedCase {
  provenance: 'sandbox' | 'handwritten';
  /** The script that made it, or the page of the provider's reference that it was written after. */
  source: string;
  /** Of the day it was made or written, `2026-11-22`. */
  date: string;
}

const OUTSIDE = process.env.MODELPORT_FIXTURES ?? join(import.meta.dir, '../../../shared/fixtures');
const OWN = join(import.meta.dir, '../recordings');
/** What the names of our own begin with, so that they differ from those outside. */
const OWN_PREFIX = 'own/';

/** Whether the outside folder is there; suites that need it are skipped where it is not. */
export const hasFixtures = existsSync(join(OUTSIDE, 'manifest.json'));

/** The suites and tests that need the outside folder, counted for the summary line. */
export function outsideOnly(texts: Iterable<string>): number {
  let count = 0;
  for (const text of texts) count += text.match(/skipIf\(!hasFixtures\)/g)?.length ?? 0;
  return count;
}

function testTexts(): string[] {
  const root = join(import.meta.dir, '../..');
  const files = ['src', 'test'].flatMap((folder) => [...new Glob(`${folder}/**/*.test.ts`).scanSync({ cwd: root })]);
  return files.filter((file) => !file.includes('node_modules')).map((file) => readFileSync(join(root, file), 'utf8'));
}

const readManifest = <T extends RecordedCase>(folder: string): T[] =>
  (JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as { entries: T[] }).entries;

export const ownRecordings: readonly OwnRecording[] = readManifest<OwnRecording>(OWN).map((entry) => ({
  ...entry,
  file: OWN_PREFIX + entry.file,
  ...(entry.request_file !== undefined && { request_file: OWN_PREFIX + entry.request_file }),
}));

if (!hasFixtures) {
  const count = outsideOnly(testTexts());
  console.warn(
    `${count} suites over recordings of real traffic are skipped: MODELPORT_FIXTURES names no folder of them. The ${ownRecordings.length} recordings in test/recordings are used.`,
  );
}

/** Both sets. */
export const everyRecording: readonly RecordedCase[] = [
  ...ownRecordings,
  ...(hasFixtures ? readManifest(OUTSIDE) : []),
];

export function recordedCases(wire: string): RecordedCase[] {
  return everyRecording.filter((entry) => entry.wire === wire);
}

/** Ours are no proof of how providers write and count: laws about providers leave them out. */
export function isOwn(recorded: RecordedCase): boolean {
  return recorded.file.startsWith(OWN_PREFIX);
}

/** The least number of cases that a suite over all recordings must have seen: some, where ours are all there are. */
export function atLeast(count: number): number {
  return hasFixtures ? count : 1;
}

function read(file: string): Buffer {
  return readFileSync(file.startsWith(OWN_PREFIX) ? join(OWN, file.slice(OWN_PREFIX.length)) : join(OUTSIDE, file));
}

/** The one case whose file name ends with this. */
export function recordedCase(fileEnd: string): RecordedCase {
  const found = everyRecording.filter((entry) => entry.file.endsWith(fileEnd));
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} recorded cases end in ${fileEnd}.`);
  return found[0];
}

/** The reply's body as its provider sent it. */
export function replyBytes(recorded: RecordedCase): Uint8Array {
  const bytes = read(recorded.file);
  if (recorded.file.endsWith('.chunks.txt')) return framed(recorded.wire, linesOf(bytes));
  if (recorded.file.endsWith('.sse.txt') && !/(\n\n|\r\r|\r\n\r\n)$/.test(bytes.subarray(-4).toString('latin1'))) {
    return Buffer.concat([bytes, Buffer.from('\n\n')]);
  }
  return bytes;
}

export function replyContentType(recorded: RecordedCase): string {
  const ofStream = recorded.wire === 'bedrock-converse' ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
  return recorded.response_headers?.['content-type'] ?? (recorded.stream ? ofStream : 'application/json');
}

/** The request of the reply, if it was recorded. */
export function requestBytes(recorded: RecordedCase): Uint8Array | undefined {
  if (recorded.request_file === undefined) return undefined;
  const bytes = read(recorded.request_file);
  // A body that the recorder could not read is stored as `null`.
  return bytes.toString().trim() === 'null' ? undefined : bytes;
}

function linesOf(bytes: Buffer): string[] {
  return bytes
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '');
}

/** Puts payloads that were stored one per line back into their envelope. */
function framed(wire: string, payloads: readonly string[]): Uint8Array {
  switch (wire) {
    case 'openai-chat':
    case 'openai-completions':
      return Buffer.from(`${payloads.map((payload) => `data: ${payload}\n\n`).join('')}data: [DONE]\n\n`);
    case 'gemini-generatecontent':
      return Buffer.from(payloads.map((payload) => `data: ${payload}\r\n\r\n`).join(''));
    case 'bedrock-converse':
      return Buffer.concat(
        payloads.flatMap((payload) =>
          Object.entries<object>(JSON.parse(payload)).map(([type, event]) => packEvent(type, event)),
        ),
      );
    default:
      return Buffer.from(
        payloads.map((payload) => `event: ${JSON.parse(payload).type}\ndata: ${payload}\n\n`).join(''),
      );
  }
}

/** Splits `bytes` at positions derived from `seed`. Seed 0: one piece; 1: byte by byte. */
export function cutBytes(bytes: Uint8Array, seed: number): Uint8Array[] {
  if (seed === 0) return [bytes];
  const chunks: Uint8Array[] = [];
  let state = seed;
  for (let at = 0; at < bytes.length; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const length = seed === 1 ? 1 : 1 + ((state >>> 8) % 400);
    chunks.push(bytes.slice(at, at + length));
    at += length;
  }
  return chunks;
}
