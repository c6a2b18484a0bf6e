/** Verifies responses of authenticators, in a worker thread that exists only while needed. */
import { startThread, workerProgram } from '../canonical/worker-program.ts';
import type {
  NewCredential,
  PasskeyCheck,
  PasskeyRequest,
  UsedCredential,
  VerificationAnswered,
} from './webauthn-worker.ts';

export interface Webauthn {
  /** The data of a new passkey. `undefined`: the response is invalid. Rejects if the thread fails. */
  verifyNew(check: Omit<Extract<PasskeyCheck, { kind: 'new' }>, 'kind'>): Promise<NewCredential | undefined>;
  /** The state of the passkey after its use. `undefined`: the response is invalid. Rejects if the thread fails. */
  verifyUse(check: Omit<Extract<PasskeyCheck, { kind: 'used' }>, 'kind'>): Promise<UsedCredential | undefined>;
  /** Whether the thread is running. */
  readonly isLoaded: boolean;
}

export interface WebauthnSettings {
  /** The time limit of a verification, with the start of the thread. */
  timeoutMs?: number;
  /** How long an idle thread stays. */
  idleMs?: number;
}

/** Generous: a slow machine loads the library in seconds. */
const TIMEOUT_MS = 60_000;
const IDLE_MS = 60_000;

interface Waiting {
  resolve(verified: NewCredential | UsedCredential | undefined): void;
  reject(thrown: Error): void;
  timer: ReturnType<typeof setTimeout>;
}

/** The thread starts with the first verification. */
export function createWebauthn({ timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS }: WebauthnSettings = {}): Webauthn {
  const pending = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let last = 0;

  function thread(): Worker {
    if (worker) return worker;
    const started = startThread(workerProgram(new URL('./webauthn-worker.ts', import.meta.url)));
    started.onmessage = ({ data: { id, verified } }: MessageEvent<VerificationAnswered>) => take(id)?.resolve(verified);
    started.onerror = ({ message }) => {
      if (worker === started) fail(message);
    };
    worker = started;
    return started;
  }

  function take(id: number): Waiting | undefined {
    const waiting = pending.get(id);
    pending.delete(id);
    clearTimeout(waiting?.timer);
    if (pending.size > 0) return waiting;
    // An idle thread does not keep the process alive.
    worker?.unref();
    idle = setTimeout(end, idleMs).unref();
    return waiting;
  }

  function end(): void {
    worker?.terminate();
    worker = undefined;
  }

  /** The next verification starts a new thread. */
  function fail(reason: string): void {
    end();
    for (const id of [...pending.keys()]) take(id)?.reject(new Error(`A passkey could not be verified: ${reason}`));
  }

  function ask(check: PasskeyCheck): Promise<NewCredential | UsedCredential | undefined> {
    clearTimeout(idle);
    const id = ++last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => fail(`the thread did not answer within ${timeoutMs} ms`), timeoutMs);
      pending.set(id, { resolve, reject, timer });
      const started = thread();
      started.ref();
      started.postMessage({ id, check } satisfies PasskeyRequest);
    });
  }

  return {
    // Safe: the thread answers each kind with its own shape.
    verifyNew: (check) => ask({ kind: 'new', ...check }) as Promise<NewCredential | undefined>,
    verifyUse: (check) => ask({ kind: 'used', ...check }),
    get isLoaded() {
      return worker !== undefined;
    },
  };
}
