/** Limits as one would explain them: every event is kept, and a window is what lies in it. The tests hold both countings to it. */
import type { Paced } from './limits.ts';

interface Event {
  second: number;
  requests: number;
  tokens: number;
}

export interface Book {
  events: Event[];
  active: Set<string>;
}

/** The present second and the 60 before it. */
const WINDOW_SECONDS = 61;

export function held(book: Book, second: number, member: 'requests' | 'tokens'): number {
  const inWindow = book.events.filter((event) => event.second > second - WINDOW_SECONDS && event.second <= second);
  return inWindow.reduce((sum, event) => sum + event[member], 0);
}

export function allows(book: Book, paced: Paced, tokens: number, second: number): boolean {
  const { requestsPerMinute = Infinity, tokensPerMinute = Infinity, concurrency = Infinity } = paced;
  return (
    book.active.size < concurrency &&
    held(book, second, 'requests') < requestsPerMinute &&
    held(book, second, 'tokens') + tokens <= tokensPerMinute
  );
}

/** Books a call that was let in; the event's tokens are corrected when it ends. */
export function enter(book: Book, callId: string, tokens: number, second: number): Event {
  const event = { second, requests: 1, tokens };
  book.events.push(event);
  book.active.add(callId);
  return event;
}

/** What was used beyond the asked counts where the call was counted, or now where that second has left the window. */
export function leave(book: Book, callId: string, event: Event, used: number, second: number): void {
  book.active.delete(callId);
  const isGone = second - event.second >= WINDOW_SECONDS;
  if (!isGone) event.tokens = used;
  else if (used > event.tokens) book.events.push({ second, requests: 0, tokens: used - event.tokens });
}
