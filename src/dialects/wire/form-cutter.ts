/** Parses a multipart form while it arrives. The parts do not depend on how the bytes are split into chunks. */
import { GatewayError } from '../../canonical/errors.ts';

export interface PartHead {
  name: string;
  /** Absent if the part is a field, not a file. */
  filename?: string;
  contentType?: string;
}

/** `part`: a part begins. `bytes`: content of the current part. Bytes that arrived in one chunk are not copied. */
export type FormEvent = { type: 'part'; head: PartHead } | { type: 'bytes'; bytes: Uint8Array };

export interface FormCutter {
  /** Throws `invalid_request` if the body is not a multipart form. */
  read(chunk: Uint8Array): FormEvent[];
  /** Call it after the last chunk. Throws `invalid_request` if the form is incomplete. */
  end(): void;
}

const MOST_PARTS = 200;
const MOST_HEAD_BYTES = 16 * 1024;
const LINE_END = '\r\n';
const BLANK_LINE = '\r\n\r\n';

export function createFormCutter(boundary: string): FormCutter {
  const mark = Buffer.from(`--${boundary}`);
  const delimiter = Buffer.from(`${LINE_END}--${boundary}`);
  let state: 'before' | 'head' | 'body' | 'over' = 'before';
  /** Bytes that arrived and are not in an event yet. */
  let rest: Buffer = Buffer.alloc(0);
  /** The bytes of a line end that precedes the next part's content. */
  let skipped = 0;
  let parts = 0;

  /** Returns whether another step may find more events. */
  function step(events: FormEvent[]): boolean {
    switch (state) {
      case 'before':
        return findFirst();
      case 'head':
        return readHead(events);
      case 'body':
        return readBytes(events);
      case 'over':
        rest = rest.subarray(rest.length);
        return false;
      default:
        return state satisfies never;
    }
  }

  function findFirst(): boolean {
    const at = rest.indexOf(mark);
    rest = rest.subarray(at < 0 ? Math.max(0, rest.length - mark.length + 1) : at + mark.length);
    if (at >= 0) state = 'head';
    return at >= 0;
  }

  function readHead(events: FormEvent[]): boolean {
    if (rest.length < 2) return false;
    if (rest.toString('latin1', 0, 2) === '--') {
      state = 'over';
      return true;
    }
    const blank = rest.indexOf(BLANK_LINE);
    if ((blank < 0 ? rest.length : blank) > MOST_HEAD_BYTES) throw broken('has a part whose headers do not end');
    if (blank < 0) return false;
    if (++parts > MOST_PARTS) throw broken(`holds more than ${MOST_PARTS} parts`);
    events.push({ type: 'part', head: headOf(rest.toString('utf8', rest.indexOf(LINE_END) + 2, blank)) });
    rest = rest.subarray(blank + LINE_END.length);
    skipped = LINE_END.length;
    state = 'body';
    return true;
  }

  function readBytes(events: FormEvent[]): boolean {
    const at = rest.indexOf(delimiter);
    // Bytes that may be the start of a delimiter wait for the next chunk.
    const end = at < 0 ? rest.length - delimiter.length + 1 : at;
    if (end > skipped) events.push({ type: 'bytes', bytes: rest.subarray(skipped, end) });
    if (at < 0) {
      if (end <= skipped) return false;
      rest = rest.subarray(end);
      skipped = 0;
      return false;
    }
    rest = rest.subarray(at + delimiter.length);
    state = 'head';
    return true;
  }

  return {
    read(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const events: FormEvent[] = [];
      while (step(events));
      return events;
    },
    end() {
      if (state === 'before') throw broken('holds no part with the boundary its content type names');
      if (state !== 'over') throw broken('breaks off in the middle of a part');
    },
  };
}

function headOf(head: string): PartHead {
  const disposition = /^content-disposition:(.*)$/im.exec(head)?.[1] ?? '';
  const name = quoted(disposition, 'name');
  if (name === undefined) throw broken('has a part without a name');
  const filename = quoted(disposition, 'filename');
  const contentType = /^content-type:\s*([^\s;]+)/im.exec(head)?.[1]?.toLowerCase();
  return { name, ...(filename !== undefined && { filename }), ...(contentType !== undefined && { contentType }) };
}

function quoted(disposition: string, parameter: string): string | undefined {
  const match = new RegExp(`;\\s*${parameter}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, 'i').exec(disposition);
  return match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2];
}

function broken(why: string): GatewayError {
  return new GatewayError('invalid_request', `The multipart body ${why}.`);
}
