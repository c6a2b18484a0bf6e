/** Hands calls to those who watch them live, as they end in this process. Without a listener an event costs one comparison. */
import type { CallRow } from '../store/rows.ts';
import type { EventSink } from './events.ts';

export interface LiveCalls {
  readonly sink: EventSink;
  /** `who`: the person or the key. `undefined`: there are too many listeners already, of all or of this one. */
  listen(who: string, take: (call: CallRow) => void, end: () => void): (() => void) | undefined;
  /** Ends all listeners and takes no more: the process stops. */
  close(): void;
}

const MOST_LISTENERS = 100;
/** A person's tabs: one person cannot use all places. */
const MOST_OF_ONE = 10;

interface Listener {
  who: string;
  take(call: CallRow): void;
  end(): void;
}

export function createLiveCalls(most = MOST_LISTENERS, mostOfOne = MOST_OF_ONE): LiveCalls {
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
    listen(who, take, end) {
      if (isClosed || listeners.size >= most) return undefined;
      let own = 0;
      for (const listener of listeners) if (listener.who === who) own++;
      if (own >= mostOfOne) return undefined;
      const listener = { who, take, end };
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
