/** Answers of the scripted upstream, and their steps on the wire. */
import { gzipSync } from 'node:zlib';
import { recordedCase, replyBytes, replyContentType } from '../helpers/fixtures.ts';

/** One answer. At most one of `fixture`, `json`, `events`, `text` and `bytes` defines the body; without them it is empty. */
export interface Answer {
  /** A recording by its file in the manifest: bytes, status and content type. */
  fixture?: string;
  /** A JSON body. */
  json?: unknown;
  /** A stream of these events (strings are sent unchanged, others as JSON), then `[DONE]`. */
  events?: readonly unknown[];
  /** The body as text. */
  text?: string;
  bytes?: Uint8Array;
  status?: number;
  headers?: { [name: string]: string };
  /** How the body is split into writes; by event by default. */
  chunking?: Chunking;
  /** How the end of the body is marked; by default streams are chunked and others have a length. */
  ending?: 'chunked' | 'length' | 'close';
  gzip?: boolean;
  /** Omits the stream's `[DONE]`. */
  withoutTerminator?: boolean;
  /** Bytes after the end of the body. */
  garbage?: string;
  /** Milliseconds between two writes. */
  paceMs?: number;
  fault?: Fault;
  /** Used for this request and all later ones. */
  repeat?: boolean;
}

export type Chunking = 'event' | 'byte' | 'whole' | { seed: number };

export interface Fault {
  /** Before the headers, before the event of this number (from 0; the number of events means after the last), or before the mark of the body's end. */
  before: 'headers' | 'end' | number;
  /** Within the event instead: in its middle, or between the bytes of its first multibyte character. */
  inside?: 'event' | 'character';
  /** `cut`: FIN; `reset`: RST; `silence`: nothing more is sent; a number: this many milliseconds of silence. */
  does: 'cut' | 'reset' | 'silence' | number;
}

export type Step =
  | { type: 'send'; bytes: Uint8Array }
  | { type: 'wait'; ms: number }
  | { type: 'cut' }
  | { type: 'reset' }
  | { type: 'silence' };

/** The four ways in which every recorded stream is split. */
export const CHUNKINGS: readonly Chunking[] = ['event', 'byte', 'whole', { seed: 20261121 }];

const TERMINATOR = 'data: [DONE]\n\n';
const REASONS: { [status: number]: string } = { 200: 'OK', 400: 'Bad Request', 429: 'Too Many Requests' };

/** The steps of an answer, and whether the connection can be used again afterwards. */
export function planAnswer(answer: Answer): { steps: Step[]; reusable: boolean } {
  const { body, status, contentType } = bodyOf(answer);
  const ending = answer.ending ?? (contentType.startsWith('text/event-stream') ? 'chunked' : 'length');
  const sent = answer.gzip ? gzipSync(body) : body;
  const head = headOf(answer, status, contentType, ending, sent.length);
  const fault = answer.fault && { ...answer.fault, at: faultOffset(answer.fault, sent) };
  const steps: Step[] = [];
  if (fault?.before === 'headers') steps.push(faultStep(fault));
  steps.push({ type: 'send', bytes: head });
  const cuts = new Set(cutPoints(sent, answer.chunking ?? 'event'));
  cuts.add(sent.length);
  if (fault?.at !== undefined) cuts.add(fault.at);
  let from = 0;
  for (const to of [...cuts].sort((a, b) => a - b)) {
    if (to > from) {
      steps.push({ type: 'send', bytes: framed(sent.subarray(from, to), ending) });
      if (answer.paceMs) steps.push({ type: 'wait', ms: answer.paceMs });
    }
    if (to === fault?.at) steps.push(faultStep(fault));
    from = to;
  }
  if (ending === 'chunked') steps.push({ type: 'send', bytes: Buffer.from('0\r\n\r\n') });
  return { steps, reusable: ending !== 'close' };
}

function bodyOf(answer: Answer): { body: Uint8Array; status: number; contentType: string } {
  const { status = 200, garbage = '' } = answer;
  const asJson = { status, contentType: 'application/json' };
  const asStream = { status, contentType: 'text/event-stream; charset=utf-8' };
  if (answer.fixture !== undefined) {
    const recorded = recordedCase(answer.fixture);
    const bytes = Buffer.from(replyBytes(recorded));
    const end = answer.withoutTerminator ? bytes.lastIndexOf('data: [DONE]') : -1;
    const body = Buffer.concat([end < 0 ? bytes : bytes.subarray(0, end), Buffer.from(garbage)]);
    return { body, status: answer.status ?? recorded.status, contentType: replyContentType(recorded) };
  }
  if (answer.events !== undefined) {
    const events = answer.events.map((event) =>
      typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`,
    );
    const text = events.join('') + (answer.withoutTerminator ? '' : TERMINATOR) + garbage;
    return { body: Buffer.from(text), ...asStream };
  }
  if (answer.json !== undefined) return { body: Buffer.from(JSON.stringify(answer.json) + garbage), ...asJson };
  const body = answer.bytes ?? Buffer.from((answer.text ?? '') + garbage);
  return { body, status, contentType: answer.headers?.['content-type'] ?? 'application/octet-stream' };
}

function headOf(answer: Answer, status: number, contentType: string, ending: string, length: number): Uint8Array {
  const date = new Date().toUTCString();
  const headers: { [name: string]: string } = { 'content-type': contentType, date, ...answer.headers };
  if (ending === 'chunked') headers['transfer-encoding'] = 'chunked';
  if (ending === 'length') headers['content-length'] = String(length);
  if (ending === 'close') headers.connection = 'close';
  if (answer.gzip) headers['content-encoding'] = 'gzip';
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} ${REASONS[status] ?? 'Status'}\r\n${lines.join('')}\r\n`);
}

function framed(bytes: Uint8Array, ending: string): Uint8Array {
  if (ending !== 'chunked') return bytes;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

function faultStep(fault: Fault): Step {
  return typeof fault.does === 'number' ? { type: 'wait', ms: fault.does } : { type: fault.does };
}

function faultOffset(fault: Fault, body: Uint8Array): number | undefined {
  if (fault.before === 'headers') return undefined;
  if (fault.before === 'end') return body.length;
  const starts = [0, ...eventEnds(body)];
  const start = starts[fault.before];
  if (start === undefined) throw new Error(`the answer has ${starts.length - 1} events, none before ${fault.before}`);
  if (fault.inside === undefined) return start;
  const end = starts[fault.before + 1] ?? body.length;
  if (fault.inside === 'event') return Math.floor((start + end) / 2);
  const lead = body.findIndex((byte, index) => index >= start && byte >= 0xc0);
  if (lead < 0) throw new Error('the answer has no character of several bytes there');
  return lead + 1;
}

/** The offset after each event of a stream; otherwise the length of the body. */
export function eventEnds(body: Uint8Array): number[] {
  const ends: number[] = [];
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  for (const match of text.matchAll(/\n\r?\n/g)) ends.push(match.index + match[0].length);
  if (ends.at(-1) !== body.length && body.length > 0) ends.push(body.length);
  return ends;
}

/** This number of bytes is sent one by one, the rest in small pieces, to keep long recordings fast. */
const SINGLE_BYTES = 600;

function cutPoints(body: Uint8Array, chunking: Chunking): number[] {
  if (chunking === 'whole') return [];
  if (chunking === 'event') return eventEnds(body);
  const points: number[] = [];
  if (chunking === 'byte') {
    for (let at = 1; at < body.length; at += at < SINGLE_BYTES ? 1 : 37) points.push(at);
    return points;
  }
  const random = randomNumbers(chunking.seed);
  for (let at = 1 + random(90); at < body.length; at += 1 + random(180)) points.push(at);
  return points;
}

/** A small random generator of integers below a bound; it repeats for the same seed. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
