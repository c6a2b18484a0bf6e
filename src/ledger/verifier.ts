/** Runs verifications: one at a time over all processes, starting from the last signed checkpoints. */
import { settledWithin } from '../canonical/time.ts';
import type { Store } from '../store/store.ts';
import type { VerifyProgress } from '../store/verify/books-reader.ts';
import { NO_CHECKPOINTS, type Reached } from '../store/verify/checkpoint.ts';
import type { Finding, VerifyReport } from '../store/verify/report.ts';
import { type CheckpointSigner, checkpointSigner } from './checkpoint-signature.ts';

export interface VerifierSettings {
  store: Store;
  /** The name of this process. */
  owner: string;
  /** The key that signs checkpoints. `undefined`: there are no checkpoints, and every verification reads everything. Read when needed. */
  key(): string | undefined;
  now(): number;
  /** A verification found these faults. */
  faulty?(faults: readonly string[]): void;
  reportError(sentence: string, cause: unknown): void;
}

/** The parameters of `GET /admin/v1/ledger/verify`. */
export interface VerifyRequest {
  /** Reads everything; earlier checkpoints must match too. */
  full?: boolean;
}

export interface Running extends VerifyProgress {
  startedAt: number;
}

/** Verifies the books while calls continue. One verification runs at a time over all processes; equal requests share its report. */
export interface Verifier {
  /** Resolves with the report of a new verification, or of a running one that reads as much. */
  verify(asked?: VerifyRequest): Promise<VerifyReport>;
  /** The same, but waits at most this long: then it returns the progress, and the next request after the end gets the report. */
  ask(asked: VerifyRequest, waitMs: number): Promise<VerifyReport | Running>;
  /** The running verification, in this process or another. */
  running(): Promise<Running | undefined>;
}

/** A process without renewal for this long is gone, and its verification with it. */
const LEASE_MS = 15_000;
const RENEW_MS = 2000;
const LOOK_MS = 250;
/** Checkpoints saved in one statement. */
const SAVED_AT_ONCE = 500;
/** How long a report is kept for a client that was answered with 202. */
const KEPT_MS = 600_000;

interface VerifyRun {
  full: boolean;
  startedAt: number;
  progress: VerifyProgress;
  report: Promise<VerifyReport>;
}

export function createVerifier({ store, owner, key, now, faulty, reportError }: VerifierSettings): Verifier {
  let run: VerifyRun | undefined;
  /** A finished report that a client is expected to fetch. */
  let waiting: { full: boolean; report: VerifyReport; at: number } | undefined;

  function start(full: boolean): VerifyRun {
    const started: VerifyRun = {
      full,
      startedAt: now(),
      progress: { done: 0, total: 0 },
      report: Promise.resolve() as never,
    };
    started.report = verifyAlone(started).finally(() => {
      if (run === started) run = undefined;
    });
    run = started;
    return started;
  }

  async function runFor({ full = false }: VerifyRequest): Promise<VerifyRun> {
    // Waits for a verification that reads less: two at the same time would take twice as long.
    while (run && full && !run.full) await run.report.catch(() => {});
    return run ?? start(full);
  }

  async function verifyAlone(started: VerifyRun): Promise<VerifyReport> {
    const lease = () => {
      const { startedAt, progress } = started;
      const at = now();
      return store.leaseVerification({ owner, startedAt, leaseUntil: at + LEASE_MS, ...progress }, at);
    };
    while (!(await lease())) await Bun.sleep(LOOK_MS);
    const renewing = setInterval(() => {
      lease().catch((thrown) =>
        reportError('The verification of the ledger could not be announced to other processes.', thrown),
      );
    }, RENEW_MS);
    try {
      return await verifyFrom(started);
    } finally {
      clearInterval(renewing);
      await store.endVerification(owner).catch(() => {});
    }
  }

  async function verifyFrom(started: VerifyRun): Promise<VerifyReport> {
    const secret = key();
    const signer = secret === undefined ? undefined : checkpointSigner(secret);
    const { known, forged } = signer
      ? signer.read(await store.checkpoints(signer.name))
      : { known: NO_CHECKPOINTS, forged: [] };
    const saver = signer && createSaver(store, signer, reportError);
    const report = await store.verify({
      known,
      full: started.full,
      progress: (progress) => {
        started.progress = progress;
      },
      ...(saver && { reached: saver.add }),
    });
    await saver?.end();
    const whole = forged.length === 0 ? report : withForged(report, forged);
    if (!whole.ok) faulty?.(whole.faults);
    return whole;
  }

  return {
    verify: async (asked = {}) => (await runFor(asked)).report,

    async ask(asked, waitMs) {
      const { full = false } = asked;
      if (!run && waiting && waiting.at > now() - KEPT_MS && (waiting.full || !full)) {
        const { report } = waiting;
        waiting = undefined;
        return report;
      }
      const one = await runFor(asked);
      if (await settledWithin([one.report], waitMs)) return one.report;
      one.report.then(
        (report) => {
          waiting = { full: one.full, report, at: now() };
        },
        () => {},
      );
      return (await this.running()) ?? { startedAt: one.startedAt, ...one.progress };
    },

    async running() {
      const other = await store.runningVerification(now());
      if (other && other.owner !== owner) return { startedAt: other.startedAt, done: other.done, total: other.total };
      return run && { startedAt: run.startedAt, ...run.progress };
    },
  };
}

const ACCOUNT = 'account ';

/** Adds findings for checkpoints whose signatures are invalid. */
function withForged(report: VerifyReport, forged: readonly string[]): VerifyReport {
  const findings = forged.map(
    (subject): Finding => ({
      kind: 'checkpoint',
      fault: `The checkpoint of ${subject} was altered: its signature is invalid. What it covered was read again.`,
      ...(subject.startsWith(ACCOUNT) && { account: subject.slice(ACCOUNT.length) }),
    }),
  );
  const faults = findings.map(({ fault }) => fault);
  return { ...report, ok: false, faults: [...faults, ...report.faults], findings: [...findings, ...report.findings] };
}

/** Saves checkpoints as they are reached. What cannot be saved is read again next time. */
function createSaver(store: Store, signer: CheckpointSigner, reportError: VerifierSettings['reportError']) {
  let gathered: Reached[] = [];
  let saving = Promise.resolve();
  function save(): void {
    const rows = gathered.map(signer.sign);
    gathered = [];
    if (rows.length === 0) return;
    saving = saving
      .then(() => store.saveCheckpoints(signer.name, rows))
      .catch((thrown) => reportError('Checkpoints of the verification could not be saved.', thrown));
  }
  return {
    add(reached: readonly Reached[]): void {
      gathered.push(...reached);
      if (gathered.length >= SAVED_AT_ONCE) save();
    },
    end(): Promise<void> {
      save();
      return saving;
    },
  };
}
