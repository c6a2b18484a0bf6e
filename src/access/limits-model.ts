/**
 * The reference model of the limits: it keeps every event, and a window is the sum of its events. Tests compare both implementations with
 * it.
 */
import type { Paced } from './limits.ts';

interface ModelEvent {
  second: number;
  requests: number;
  tokens: number;
}

export interface Book {
  events: ModelEvent[];
  active: Set<string>;
}

/** The current second and the 60 before it. */
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

/** Records an admitted call. Its tokens are corrected when the call ends. */
export function enter(book: Book, callId: string, tokens: number, second: number): ModelEvent {
  const event = { second, requests: 1, tokens };
  book.events.push(event);
  book.active.add(callId);
  return event;
}

/** Tokens beyond the estimate count in the second of the call, or in the current second if that one has left the window. */
export function leave(book: Book, callId: string, event: ModelEvent, used: number, second: number): void {
  book.active.delete(callId);
  const isGone = second - event.second >= WINDOW_SECONDS;
  if (!isGone) event.tokens = used;
  else if (used > event.tokens) book.events.push({ second, requests: 0, tokens: used - event.tokens });
}
