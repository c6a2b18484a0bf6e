/**
 * Stores requests and replies of calls if their key or model is configured for it: encrypted files, apart from the records of calls. A
 * bounded queue is between the calls and the files: a full disk or a slow bucket loses captures, and never delays a call.
 */

import type { Json } from '../../canonical/json.ts';
import { DAY_MS } from '../../canonical/time.ts';
import type { Files } from '../../files/files.ts';
import type { CredentialCipher } from '../../store/credential-cipher.ts';
import { Counter, type MetricFamily } from '../metrics/family.ts';
import { Capture, type CaptureBudget, type CapturedCall } from './capture.ts';
import { decryptPayload, encryptPayload } from './payload-cipher.ts';

export interface Captures {
  /** Begins the capture of a call with the request that it came with. */
  begin(call: CapturedCall, request: Uint8Array): Capture;
  /** `undefined`: nothing is stored of the call, or not any more. Throws an Error if the file cannot be decrypted. */
  read(call: { id: string; at: number }): Promise<Json | undefined>;
  /** Call every hour: removes what is older than the retention. */
  sweep(now: number): Promise<void>;
  /** Stores what waits, for so long at most. */
  drain(boundMs: number): Promise<void>;
  families(): MetricFamily[];
}

export interface CaptureSettings {
  files: Files;
  cipher: CredentialCipher;
  /** The largest part of a request, and of a reply, that is kept. */
  maxBytes: number;
  keepDays: number;
  now(): number;
  /** A capture could not be stored, for the first time since one was. */
  lost(sentence: string, cause: unknown): void;
  /** Limits that tests make small. */
  queue?: { bytes?: number; writers?: number; writeMs?: number };
}

/** All captures that are gathered or wait to be stored. */
const QUEUE_BYTES = 32 << 20;
const QUEUE_CALLS = 2000;
const WRITERS = 2;
/** A write that takes longer keeps its place no more, and counts as lost. */
const WRITE_MS = 60_000;
/** The maximum of concurrent writes: each keeps its payload in memory. Nothing is written while there are more. */
const MOST_HANGING = 4;
const PREFIX = 'payload_';

export function createCaptures({
  files,
  cipher,
  maxBytes,
  keepDays,
  now,
  lost,
  queue = {},
}: CaptureSettings): Captures {
  const { bytes: most = QUEUE_BYTES, writers = WRITERS, writeMs = WRITE_MS } = queue;
  const waiting: Capture[] = [];
  const writing = new Set<Promise<void>>();
  const stored = new Counter();
  const dropped = new Counter();
  let used = 0;
  let hanging = 0;
  let isLosing = false;
  const budget: CaptureBudget = {
    take(bytes) {
      if (used + bytes > most) return false;
      used += bytes;
      return true;
    },
    give(bytes) {
      used -= bytes;
    },
  };

  function drop(reason: string, sentence: string, cause: unknown): void {
    dropped.add(reason, 1);
    if (isLosing) return;
    isLosing = true;
    lost(sentence, cause);
  }

  function finished(capture: Capture): void {
    if (capture.isDropped || waiting.length >= QUEUE_CALLS) {
      capture.release();
      drop('queue_full', 'Payloads are not captured: their storage does not keep up.', undefined);
      return;
    }
    waiting.push(capture);
    pump();
  }

  function pump(): void {
    while (writing.size < writers) {
      const next = waiting.shift();
      if (!next) return;
      const work = store(next).finally(() => {
        writing.delete(work);
        pump();
      });
      writing.add(work);
    }
  }

  async function store(capture: Capture): Promise<void> {
    try {
      // The call's last bytes are sent first.
      await Bun.sleep(0);
      const { id, at, mode } = capture.call;
      const name = nameOf(id, at);
      const payload = Buffer.from(JSON.stringify(capture.payload()));
      const encrypted = encryptPayload(payload, name, cipher);
      if (hanging >= MOST_HANGING) throw new Error('The storage of files does not answer.');
      await write(name, encrypted);
      stored.add(mode, 1);
      isLosing = false;
    } catch (thrown) {
      drop('failed', 'A payload could not be captured.', thrown);
    } finally {
      capture.release();
    }
  }

  /** `undefined`: it was removed meanwhile. */
  async function bytesOf(name: string, size: number): Promise<Uint8Array | undefined> {
    try {
      return await new Response(files.read(name, { start: 0, end: size })).bytes();
    } catch (thrown) {
      if ((await files.size(name)) === undefined) return undefined;
      throw thrown;
    }
  }

  async function write(name: string, encrypted: Uint8Array): Promise<void> {
    const writing = files.write(name, piecesOf(encrypted), encrypted.length);
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    writing.then(over, over);
    try {
      await within(writing, writeMs);
    } finally {
      if (!isOver) {
        hanging++;
        const ended = () => void hanging--;
        writing.then(ended, ended);
      }
    }
  }

  return {
    begin(call, request) {
      const capture = new Capture(call, maxBytes, budget, finished);
      capture.request(request);
      return capture;
    },

    async read({ id, at }) {
      const name = nameOf(id, at);
      if (endOf(dayOf(at), keepDays) <= now()) return undefined;
      const size = await files.size(name);
      if (size === undefined) return undefined;
      const encrypted = await bytesOf(name, size);
      if (encrypted === undefined) return undefined;
      return JSON.parse(new TextDecoder().decode(decryptPayload(encrypted, name, cipher))) as Json;
    },

    async sweep(at) {
      for await (const name of files.names(PREFIX)) {
        // The days come in order.
        const end = endOf(name.slice(PREFIX.length, PREFIX.length + DAY_LENGTH), keepDays);
        if (end > at) return;
        if (Number.isNaN(end)) continue;
        await files.remove(name);
      }
    },

    async drain(boundMs) {
      const end = performance.now() + boundMs;
      while (writing.size > 0 && performance.now() < end) {
        await within(Promise.race(writing), Math.max(1, end - performance.now())).catch(() => {});
      }
    },

    families: () => captureFamilies(stored, dropped, used),
  };
}

export function captureFamilies(stored = new Counter(), dropped = new Counter(), bytes = 0): MetricFamily[] {
  return [
    {
      name: 'modelport_captures_total',
      type: 'counter',
      help: 'Calls whose payload was stored, by what is stored of it (hash, redacted, full).',
      labels: ['capture'],
      samples: stored.samples(),
    },
    {
      name: 'modelport_captures_dropped_total',
      type: 'counter',
      help: 'Calls whose payload was not stored, by reason (queue_full, failed).',
      labels: ['reason'],
      samples: dropped.samples(),
    },
    {
      name: 'modelport_capture_queue_bytes',
      type: 'gauge',
      help: 'Bytes of payloads that are gathered or wait to be stored.',
      labels: [],
      samples: [{ labels: [], value: bytes }],
    },
  ];
}

const DAY_LENGTH = '20261123'.length;
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length).replaceAll('-', '');
/** By the day, so that a sweep needs the names alone. */
const nameOf = (id: string, at: number) => `${PREFIX}${dayOf(at)}_${id}`;

/** When the captures of this day are removed. */
function endOf(day: string, keepDays: number): number {
  const begin = Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`);
  return begin + (keepDays + 1) * DAY_MS;
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Rejects if the promise takes longer. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The storage of files does not answer.')), ms);
    timer.unref();
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
