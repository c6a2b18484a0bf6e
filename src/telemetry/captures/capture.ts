/** One call whose request and reply are captured: gathers within a limit, and never delays what it watches. */
import { CryptoHasher } from 'bun';
import type { CaptureMode } from '../../canonical/capture-mode.ts';
import type { Json } from '../../canonical/json.ts';
import type { AttemptedWith } from '../../canonical/redaction.ts';
import { textWithoutSecrets } from '../../canonical/redaction.ts';
import type { Answer, ByteSink, ByteSource } from '../../http1/answer.ts';
import { redactedEvents, redactedJsonText, withoutCutSecret, withoutKeys } from './redacted-payload.ts';

/** The memory that all captures of a process share. */
export interface CaptureBudget {
  /** `false`: there is not so much left. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export interface CapturedCall {
  id: string;
  at: number;
  account: string;
  key: string;
  model: string;
  format: string;
  mode: Exclude<CaptureMode, 'none'>;
  /** The operator's secrets, which providers may repeat. */
  secrets(): AttemptedWith | undefined;
}

/** How the reply ended: complete, broken off, or the client left. */
type ReplyEnd = 'complete' | 'broken' | 'left';

/** Bytes with their hash, of which the first are kept. */
class BoundedBytes {
  readonly #hash = new CryptoHasher('sha256');
  readonly #pieces: Uint8Array[] = [];
  readonly #most: number;
  bytes = 0;
  kept = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** `false`: there was no memory for them. */
  add(piece: Uint8Array, budget: CaptureBudget): boolean {
    this.#hash.update(piece);
    this.bytes += piece.length;
    const left = Math.min(piece.length, this.#most - this.kept);
    if (left <= 0) return true;
    if (!budget.take(left)) return false;
    // A copy: the bytes may be a part of a buffer that is used again.
    this.#pieces.push(Uint8Array.prototype.slice.call(piece, 0, left));
    this.kept += left;
    return true;
  }

  get isWhole(): boolean {
    return this.kept === this.bytes;
  }

  get all(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  digest(): string {
    return this.#hash.digest('hex');
  }

  clear(): void {
    this.#pieces.length = 0;
    this.kept = 0;
  }
}

export class Capture {
  readonly call: CapturedCall;
  readonly #request: BoundedBytes;
  readonly #reply: BoundedBytes;
  readonly #budget: CaptureBudget;
  readonly #finished: (capture: Capture) => void;
  #status = 0;
  #contentType = '';
  #end: ReplyEnd | undefined;
  /** There was no memory for it. */
  isDropped = false;

  constructor(call: CapturedCall, most: number, budget: CaptureBudget, finished: (capture: Capture) => void) {
    this.call = call;
    const kept = call.mode === 'hash' ? 0 : most;
    this.#request = new BoundedBytes(kept);
    this.#reply = new BoundedBytes(kept);
    this.#budget = budget;
    this.#finished = finished;
  }

  /** The bytes that it keeps. */
  get kept(): number {
    return this.#request.kept + this.#reply.kept;
  }

  request(body: Uint8Array): void {
    this.#add(this.#request, body);
  }

  /** The same answer, of which what is sent is captured. */
  answer(answer: Answer): Answer {
    this.#status = answer.status;
    this.#contentType = answer.headers['content-type'] ?? '';
    const { body } = answer;
    if (typeof body !== 'object' || body instanceof Uint8Array) {
      if (body !== undefined) this.#sent(typeof body === 'string' ? Buffer.from(body) : body);
      this.#over('complete');
      return answer;
    }
    return { ...answer, body: this.#watched(body) };
  }

  #watched(source: ByteSource): ByteSource {
    return {
      start: (sink) => source.start(this.#sink(sink)),
      resume: () => source.resume(),
      cancel: () => {
        source.cancel();
        this.#over('left');
      },
    };
  }

  #sink(sink: ByteSink): ByteSink {
    return {
      write: (bytes) => {
        this.#sent(bytes);
        return sink.write(bytes);
      },
      end: (bytes) => {
        if (bytes) this.#sent(bytes);
        sink.end(bytes);
        this.#over('complete');
      },
      fail: (cause) => {
        sink.fail(cause);
        this.#over('broken');
      },
    };
  }

  #sent(bytes: Uint8Array): void {
    if (this.#end === undefined) this.#add(this.#reply, bytes);
  }

  #add(to: BoundedBytes, bytes: Uint8Array): void {
    if (this.isDropped || to.add(bytes, this.#budget)) return;
    this.isDropped = true;
    this.release();
  }

  /** Gives its memory back. */
  release(): void {
    this.#budget.give(this.kept);
    this.#request.clear();
    this.#reply.clear();
  }

  #over(end: ReplyEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#finished(this);
  }

  /** What is stored. */
  payload(): { [member: string]: Json } {
    const { id, at, account, key, model, format, mode } = this.call;
    return {
      call: id,
      at: new Date(at).toISOString(),
      ...{ account, key, model, format },
      capture: mode,
      request: this.#written(this.#request),
      reply: {
        status: this.#status,
        contentType: this.#contentType,
        end: this.#end ?? 'broken',
        ...this.#written(this.#reply),
      },
    };
  }

  #written(gathered: BoundedBytes): { [member: string]: Json } {
    const { bytes, isWhole } = gathered;
    const known = { bytes, sha256: gathered.digest() };
    const { mode } = this.call;
    if (mode === 'hash' || bytes === 0) return known;
    const text = textOf(gathered.all, isWhole);
    if (mode === 'redacted') {
      // The structure of a part is not known.
      const content = isWhole && text !== undefined ? this.#structureOf(text) : undefined;
      return content === undefined ? { ...known, removed: isWhole ? 'not JSON' : 'too large' } : { ...known, content };
    }
    const cut = isWhole ? {} : { truncated: true };
    if (text === undefined) return { ...known, ...cut, base64: gathered.all.toString('base64') };
    const secrets = this.call.secrets();
    if (!secrets) return { ...known, ...cut, text: withoutKeys(text) };
    const struck = textWithoutSecrets(text, secrets);
    return { ...known, ...cut, text: withoutKeys(isWhole ? struck : withoutCutSecret(struck, secrets.credentials)) };
  }

  /** A provider may repeat a credential where a name or an id is expected. */
  #structureOf(text: string): Json | undefined {
    const structure = redactedJsonText(text) ?? redactedEvents(text);
    const secrets = this.call.secrets();
    if (structure === undefined || !secrets) return structure;
    const written = JSON.stringify(structure);
    const struck = textWithoutSecrets(written, secrets);
    try {
      return struck === written ? structure : (JSON.parse(struck) as Json);
    } catch {
      // A number was the same as a secret.
      return undefined;
    }
  }
}

/** `undefined`: the bytes are no text. The end of a part may be in the middle of a letter. */
function textOf(bytes: Uint8Array, isWhole: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return undefined;
  }
}
