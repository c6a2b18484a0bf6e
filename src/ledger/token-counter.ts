/** Counts the tokens of delivered texts where no provider has: by a tokenizer in a thread that is there only while it is needed. */
import { existsSync } from 'node:fs';
import type { CountAnswered, CountAsked } from './count-worker.ts';

export interface TokenCounter {
  /** The tokens of each text. Never rejects: what takes too long is estimated by its length. */
  count(texts: readonly string[]): Promise<number[]>;
  /** Whether its thread is there. */
  readonly isLoaded: boolean;
  /** From now on, and for what is under way, lengths decide. */
  close(): void;
}

export interface TokenCounterSettings {
  /** How long a count may take, the start of the thread included. */
  timeoutMs?: number;
  /** How long the thread stays without work: the vocabulary takes some 15 MB. */
  idleMs?: number;
}

const TIMEOUT_MS = 15_000;
const IDLE_MS = 300_000;
/** Of English text in the vocabularies of today. */
const BYTES_PER_TOKEN = 4;

/** What a text may have, by its length alone. */
export function estimateText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** The thread's program is beside this file, or beside what the launcher has bundled this file into. */
function programUrl(): URL {
  const beside = new URL('./count-worker.ts', import.meta.url);
  return existsSync(beside) ? beside : new URL('../../../src/ledger/count-worker.ts', import.meta.url);
}

interface Pending {
  texts: readonly string[];
  resolve(tokens: number[]): void;
  timer: ReturnType<typeof setTimeout>;
}

/** The thread starts with the first count. */
export function createTokenCounter({
  timeoutMs = TIMEOUT_MS,
  idleMs = IDLE_MS,
}: TokenCounterSettings = {}): TokenCounter {
  const pending = new Map<number, Pending>();
  let worker: Worker | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  let isClosed = false;

  function thread(): Worker {
    if (worker) return worker;
    worker = new Worker(programUrl().href, { smol: true });
    worker.onmessage = ({ data }: MessageEvent<CountAnswered>) => settle(data.id, data.tokens);
    worker.onerror = (event) => {
      event.preventDefault();
      giveUp();
    };
    worker.unref();
    return worker;
  }

  function settle(id: number, tokens: number[]): void {
    const waiting = pending.get(id);
    if (!waiting) return;
    pending.delete(id);
    clearTimeout(waiting.timer);
    waiting.resolve(tokens);
    if (pending.size === 0) idle = setTimeout(endThread, idleMs).unref();
  }

  /** The thread is stuck or broken: whoever waits for it gets estimates, the next count a new one. */
  function giveUp(): void {
    endThread();
    for (const [id, { texts }] of pending) settle(id, texts.map(estimateText));
  }

  function endThread(): void {
    worker?.terminate();
    worker = undefined;
  }

  return {
    count(texts) {
      if (isClosed) return Promise.resolve(texts.map(estimateText));
      clearTimeout(idle);
      const id = ++last;
      return new Promise((resolve) => {
        pending.set(id, { texts, resolve, timer: setTimeout(giveUp, timeoutMs) });
        thread().postMessage({ id, texts } satisfies CountAsked);
      });
    },
    get isLoaded() {
      return worker !== undefined;
    },
    close() {
      isClosed = true;
      giveUp();
      clearTimeout(idle);
    },
  };
}
