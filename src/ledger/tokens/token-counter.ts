/** Counts tokens of delivered texts when the provider reports none, with a tokenizer in a worker thread that exists only while needed. */
import { startThread, workerProgram } from '../../canonical/worker-program.ts';
import type { CountRequest, CountResult } from './count-worker.ts';

/** Counts tokens with OpenAI's `o200k_base` vocabulary in a worker thread. */
export interface TokenCounter {
  /** The number of tokens of each text. Never rejects: what takes too long is estimated by length. */
  count(texts: readonly string[]): Promise<number[]>;
  /** Whether the thread is running. */
  readonly isLoaded: boolean;
  /** Ends the thread; from now on counts are estimated by length. */
  close(): void;
}

export interface TokenCounterSettings {
  /** The time limit of a count, including the start of the thread. */
  timeoutMs?: number;
  /** How long an idle thread stays: the vocabulary takes about 15 MB. */
  idleMs?: number;
}

const TIMEOUT_MS = 15_000;
const IDLE_MS = 300_000;
/** English text in current vocabularies. */
const BYTES_PER_TOKEN = 4;

/** The estimate by length alone. */
export function estimateText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

interface PendingCount {
  texts: readonly string[];
  resolve(tokens: number[]): void;
  timer: ReturnType<typeof setTimeout>;
}

/** The thread starts with the first count. */
export function createTokenCounter({
  timeoutMs = TIMEOUT_MS,
  idleMs = IDLE_MS,
}: TokenCounterSettings = {}): TokenCounter {
  const pending = new Map<number, PendingCount>();
  let worker: Worker | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  let isClosed = false;

  function thread(): Worker {
    if (worker) return worker;
    worker = startThread(workerProgram(new URL('./count-worker.ts', import.meta.url)), { smol: true });
    worker.onmessage = ({ data }: MessageEvent<CountResult>) => settle(data.id, data.tokens);
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

  /** The thread hangs or has failed: callers get estimates, and the next count starts a new thread. */
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
        thread().postMessage({ id, texts } satisfies CountRequest);
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
