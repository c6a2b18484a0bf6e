/** Hands calls to those who watch them live, as they end in this process. Without a listener an event costs one comparison. */
import type { CallRow } from '../store/store.ts';
import type { EventSink } from './events.ts';

export interface LiveCalls {
  readonly sink: EventSink;
  /** `undefined`: there are too many listeners already. */
  listen(take: (call: CallRow) => void, end: () => void): (() => void) | undefined;
  /** Ends all listeners and takes no more: the process stops. */
  close(): void;
}

const MOST_LISTENERS = 100;

interface Listener {
  take(call: CallRow): void;
  end(): void;
}

export function createLiveCalls(most = MOST_LISTENERS): LiveCalls {
  const listeners = new Set<Listener>();
  let isClosed = false;
  const tell = (call: CallRow) => {
    for (const { take } of listeners) take(call);
  };
  return {
    sink: {
      ended(_, record) {
        if (listeners.size > 0) tell(record);
      },
      taskEnded(_, record) {
        if (listeners.size > 0) tell(record);
      },
    },
    listen(take, end) {
      if (isClosed || listeners.size >= most) return undefined;
      const listener = { take, end };
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      isClosed = true;
      for (const { end } of [...listeners]) end();
      listeners.clear();
    },
  };
}
