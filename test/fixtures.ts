/** Reads recorded provider traffic, which is outside the repository. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

const FOLDER = process.env.MODELPORT_FIXTURES ?? join(import.meta.dir, '../../shared/fixtures');

/** Whether the recordings are available; suites that need them are skipped otherwise. */
export const hasFixtures = existsSync(join(FOLDER, 'manifest.json'));

if (!hasFixtures) console.warn('No recorded fixtures (MODELPORT_FIXTURES): the suites over recordings are skipped.');

const manifest: { entries: RecordedCase[] } = hasFixtures
  ? JSON.parse(readFileSync(join(FOLDER, 'manifest.json'), 'utf8'))
  : { entries: [] };

export const everyRecording: readonly RecordedCase[] = manifest.entries;

export function recordedCases(wire: string): RecordedCase[] {
  return manifest.entries.filter((entry) => entry.wire === wire);
}

/** The one case whose file name ends with this. */
export function recordedCase(fileEnd: string): RecordedCase {
  const found = manifest.entries.filter((entry) => entry.file.endsWith(fileEnd));
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} recorded cases end in ${fileEnd}.`);
  return found[0];
}

/** The reply's body as its provider sent it. */
export function replyBytes(recorded: RecordedCase): Uint8Array {
  const bytes = readFileSync(join(FOLDER, recorded.file));
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
  const bytes = readFileSync(join(FOLDER, recorded.request_file));
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
