/** Splits the bytes of an SSE stream into events. Loses and copies none of them. */
import { COLON, CARRIAGE_RETURN as CR, LINE_FEED as LF, SPACE } from '../../canonical/ascii.ts';
import { sliceBytes, textIn } from '../../canonical/bytes.ts';
import { GatewayError } from '../../canonical/errors.ts';

export interface SseEvent {
  /** The event's own bytes with its blank line. All events joined are the input. */
  readonly bytes: Uint8Array;
  /** The `event:` field. */
  readonly event: string | undefined;
  /**
   * The `data:` lines, joined by line feeds. Absent if the event has none (comments, blank lines). Decoded when it is
   * first read.
   */
  readonly data: string | undefined;
  /** The range of the data in `bytes` if it is one line; otherwise both are 0. */
  readonly dataStart: number;
  readonly dataEnd: number;
}

const BYTE_ORDER_MARK = 0xfeff;
const DEFAULT_MAX_EVENT_BYTES = 64 * 1024 * 1024;
const SMALLEST_HELD = 1024;

// The state of the line scanner after the last byte. Numbers, because the scanner compares them at every line.
const AT_START = 0;
const IN_LINE = 1;
const AFTER_LF = 2;
const AFTER_CR = 3;
/** A blank line that ended in CR. A following LF belongs to it. */
const AFTER_BLANK_CR = 4;

export class SseCutter {
  readonly #maxEventBytes: number;
  #state = AT_START;
  #first = true;
  #lines = 0;
  #held: Uint8Array | undefined;
  #heldLength = 0;
  #overflow: GatewayError | undefined;

  constructor(maxEventBytes = DEFAULT_MAX_EVENT_BYTES) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** Whether the next byte begins an event. */
  get isBetweenEvents(): boolean {
    return this.#state === AT_START && this.#heldLength === 0 && !this.#overflow;
  }

  /**
   * Returns the events that `chunk` completes. Complete events are views into `chunk`, so do not reuse its memory. For
   * an event over the size limit it throws `upstream_failed`, after the events before it were returned.
   */
  read(chunk: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    if (this.#overflow) throw this.#overflow;
    const from = this.#scan(chunk, events);
    if (from < chunk.length) this.#hold(chunk, from);
    if (this.#overflow && events.length === 0) throw this.#overflow;
    return events;
  }

  /** Returns what remains without a blank line at its end. */
  end(): SseEvent[] {
    if (this.#overflow) throw this.#overflow;
    if (this.#heldLength === 0) return [];
    return [this.#eventOf(this.#takeHeld(new Uint8Array(0), 0, 0))];
  }

  /** Adds the events that end in `chunk`; returns where the unfinished rest begins. */
  #scan(chunk: Uint8Array, events: SseEvent[]): number {
    const length = chunk.length;
    let from = 0;
    let at = 0;
    let lf = -1;
    let cr = -1;
    while (at < length) {
      if (this.#state === IN_LINE) {
        if (lf < at) lf = indexOrEnd(chunk, LF, at);
        if (cr < at) cr = indexOrEnd(chunk, CR, at);
        at = Math.min(lf, cr);
        if (at === length) return from;
        this.#state = chunk[at] === LF ? AFTER_LF : AFTER_CR;
        this.#lines++;
        at++;
        continue;
      }
      const end = this.#lineStart(chunk[at]!, at);
      if (end < 0) {
        at++;
        continue;
      }
      const bytes = this.#heldLength > 0 ? this.#takeHeld(chunk, from, end) : sliceBytes(chunk, from, end);
      this.#state = AT_START;
      from = at = end;
      if (bytes.length > this.#maxEventBytes) this.#overflow = tooLarge(this.#maxEventBytes);
      if (this.#overflow) return length;
      events.push(this.#eventOf(bytes));
    }
    return from;
  }

  /** Handles the first byte of a line. Returns the end of the event, or -1 if it continues. */
  #lineStart(byte: number, at: number): number {
    if (this.#state === AFTER_BLANK_CR) return byte === LF ? at + 1 : at;
    if (byte === LF) {
      if (this.#state !== AFTER_CR) return at + 1;
      this.#state = AFTER_LF;
    } else if (byte === CR) {
      if (this.#state === AFTER_CR) return at + 1;
      this.#state = AFTER_BLANK_CR;
    } else {
      this.#state = IN_LINE;
    }
    return -1;
  }

  #eventOf(bytes: Uint8Array): SseEvent {
    const event = new LazyEvent(bytes, this.#first && hasByteOrderMark(bytes) ? 3 : 0, this.#lines === 1);
    this.#first = false;
    this.#lines = 0;
    return event;
  }

  /**
   * Keeps an unfinished rest. The buffer doubles when it is full, so a long event in many small chunks costs linear
   * time.
   */
  #hold(chunk: Uint8Array, from: number): void {
    const needed = this.#heldLength + chunk.length - from;
    if (needed > this.#maxEventBytes) {
      this.#overflow = tooLarge(this.#maxEventBytes);
      this.#held = undefined;
      return;
    }
    if (!this.#held || this.#held.length < needed) {
      const larger = new Uint8Array(Math.max(SMALLEST_HELD, needed, 2 * this.#heldLength));
      if (this.#held) larger.set(this.#held.subarray(0, this.#heldLength));
      this.#held = larger;
    }
    this.#held.set(from === 0 ? chunk : chunk.subarray(from), this.#heldLength);
    this.#heldLength = needed;
  }

  #takeHeld(chunk: Uint8Array, from: number, to: number): Uint8Array {
    if (to > from) this.#hold(chunk.subarray(0, to), from);
    const bytes = this.#held?.subarray(0, this.#heldLength) ?? new Uint8Array(0);
    this.#held = undefined;
    this.#heldLength = 0;
    return bytes;
  }
}

class LazyEvent implements SseEvent {
  readonly bytes: Uint8Array;
  readonly #from: number;
  readonly #isOneLine: boolean;
  #parsed = false;
  #event: string | undefined;
  #data: string | undefined;
  #dataStart = 0;
  #dataEnd = 0;

  constructor(bytes: Uint8Array, from: number, isOneLine: boolean) {
    this.bytes = bytes;
    this.#from = from;
    this.#isOneLine = isOneLine;
  }

  get event(): string | undefined {
    if (!this.#parsed) this.#parse();
    return this.#event;
  }

  get data(): string | undefined {
    if (!this.#parsed) this.#parse();
    this.#data ??= this.#dataEnd > 0 ? decoded(this.bytes, this.#dataStart, this.#dataEnd) : undefined;
    return this.#data;
  }

  get dataStart(): number {
    if (!this.#parsed) this.#parse();
    return this.#dataStart;
  }

  get dataEnd(): number {
    if (!this.#parsed) this.#parse();
    return this.#dataEnd;
  }

  #parse(): void {
    this.#parsed = true;
    const bytes = this.bytes;
    let at = this.#from;
    if (this.#isOneLine) {
      let end = bytes.length;
      while (bytes[end - 1] === LF || bytes[end - 1] === CR) end--;
      this.#readLine(at, end);
      return;
    }
    let cr = -1;
    while (at < bytes.length) {
      if (cr < at) cr = indexOrEnd(bytes, CR, at);
      const end = Math.min(cr, indexOrEnd(bytes, LF, at));
      this.#readLine(at, end);
      at = bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1;
    }
  }

  #readLine(at: number, end: number): void {
    const bytes = this.bytes;
    if (isField(bytes, at, end, DATA)) {
      const start = valueStart(bytes, at + DATA.length, end);
      if (this.#dataEnd === 0 && this.#data === undefined) {
        this.#dataStart = start;
        this.#dataEnd = end;
        return;
      }
      this.#data = `${this.data ?? ''}\n${decoded(bytes, start, end)}`;
      this.#dataStart = this.#dataEnd = 0;
    } else if (isField(bytes, at, end, EVENT)) {
      this.#event = decoded(bytes, valueStart(bytes, at + EVENT.length, end), end);
    }
  }
}

const DATA = new TextEncoder().encode('data');
const EVENT = new TextEncoder().encode('event');

/** Whether the line is the field `name`, with or without a value. */
function isField(bytes: Uint8Array, at: number, end: number, name: Uint8Array): boolean {
  const nameEnd = at + name.length;
  if (nameEnd > end || (nameEnd < end && bytes[nameEnd] !== COLON)) return false;
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
  return true;
}

/** The position of a field's value: after the colon and one optional space. */
function valueStart(bytes: Uint8Array, nameEnd: number, end: number): number {
  if (nameEnd === end) return end;
  return nameEnd + 1 < end && bytes[nameEnd + 1] === SPACE ? nameEnd + 2 : nameEnd + 1;
}

function indexOrEnd(bytes: Uint8Array, byte: number, at: number): number {
  const index = bytes.indexOf(byte, at);
  return index < 0 ? bytes.length : index;
}

/** Decodes UTF-8 without a byte order mark. */
function decoded(bytes: Uint8Array, from: number, to: number): string {
  const text = textIn(bytes, from, to);
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function tooLarge(maxEventBytes: number): GatewayError {
  return new GatewayError('upstream_failed', `The model's reply held an event of more than ${maxEventBytes} bytes.`);
}

/** Whether the bytes end in a blank line, without which client libraries wait for more. */
export function endsInBlankLine(bytes: Uint8Array): boolean {
  const last = bytes[bytes.length - 1];
  const before = bytes[bytes.length - 2];
  if (last === LF) return before === LF || (before === CR && bytes[bytes.length - 3] === LF);
  return last === CR && before === CR;
}
