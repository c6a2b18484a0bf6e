/**
 * The sink that records calls that were refused before they were admitted: a bounded number a second, so that a flood of them costs neither
 * the database nor other calls anything. Records of others are written with their settlement.
 */
import { storable } from '../canonical/storable.ts';
import type { RefusedCallRow } from '../store/refused-call-row.ts';
import type { Store } from '../store/store.ts';
import type { CallTrace, EventSink } from './events.ts';
import { receiptOf } from './receipt.ts';

export interface RefusedCalls {
  readonly sink: EventSink;
  /** Resolves when what was recorded so far is written. */
  flush(): Promise<void>;
}

export interface RefusedCallsOptions {
  store: Pick<Store, 'refused'>;
  now(): number;
  reportError(sentence: string, cause: unknown): void;
}

/** In each second, of this process. Strangers cannot take the places of known callers. */
const MOST_OF_CALLERS = 50;
const MOST_OF_STRANGERS = 10;
const WRITE_PAUSE_MS = 200;
const LONGEST_NAME = 200;

export function createRefusedCalls({ store, now, reportError }: RefusedCallsOptions): RefusedCalls {
  let waiting: RefusedCallRow[] = [];
  let writing: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let second = 0;
  let ofCallers = 0;
  let ofStrangers = 0;

  function hasPlace(isKnown: boolean): boolean {
    const at = Math.floor(now() / 1000);
    if (at !== second) {
      second = at;
      ofCallers = ofStrangers = 0;
    }
    return isKnown ? ofCallers++ < MOST_OF_CALLERS : ofStrangers++ < MOST_OF_STRANGERS;
  }

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const rows = waiting;
    waiting = [];
    if (rows.length === 0) return;
    try {
      await store.refused(rows);
    } catch (thrown) {
      reportError('Refused calls could not be recorded.', thrown);
    }
  }

  function flush(): Promise<void> {
    writing = writing.then(write);
    return writing;
  }

  return {
    sink: {
      refused(call) {
        if (!hasPlace(call.account !== undefined)) return;
        waiting.push(rowOf(call));
        timer ??= setTimeout(() => void flush(), WRITE_PAUSE_MS);
        timer.unref();
      },
    },
    flush,
  };
}

function rowOf(call: CallTrace): RefusedCallRow {
  const { id, at, account, key, model, dialect, stream, error, startedMs } = call;
  return {
    id,
    at,
    ...(account !== undefined && { account }),
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model: storable(model.slice(0, LONGEST_NAME)) }),
    dialect,
    stream,
    status: error?.status ?? 500,
    errorCode: error?.code ?? 'internal_error',
    durationMs: performance.now() - startedMs,
    receipt: JSON.stringify(receiptOf(call)),
  };
}
