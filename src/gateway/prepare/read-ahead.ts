/** An answer of which some frames were read before it is passed on. */
import type { Frame } from '../../dialects/dialect.ts';
import { errorIn, type Upstream, WholeUpstream } from '../attempt/upstream.ts';

export class ReadAhead implements Upstream {
  readonly same: boolean;
  readonly contentType?: string;
  readonly #upstream: Upstream;
  readonly #read: (readonly Frame[])[];

  constructor(upstream: Upstream, read: (readonly Frame[])[]) {
    this.same = upstream.same;
    if (upstream.contentType !== undefined) this.contentType = upstream.contentType;
    this.#upstream = upstream;
    this.#read = read;
  }

  next(): Promise<readonly Frame[] | undefined> {
    const frames = this.#read.shift();
    return frames ? Promise.resolve(frames) : this.#upstream.next();
  }
}

/** Reads until there is something that a client can use: some providers begin a stream long before its first token. */
export async function fromFirstContent(upstream: Upstream): Promise<Upstream> {
  if (upstream instanceof WholeUpstream) return upstream;
  const read: (readonly Frame[])[] = [];
  for (let frames = await upstream.next(); frames; frames = await upstream.next()) {
    read.push(frames);
    for (const frame of frames) {
      const error = errorIn(frame);
      if (error) throw error;
      if (hasContent(frame)) return new ReadAhead(upstream, read);
    }
  }
  return new ReadAhead(upstream, read);
}

function hasContent({ events }: Frame): boolean {
  for (const event of events) {
    if (event.type === 'choice-end' || event.type === 'result' || event.type === 'reply-end') return true;
    if (event.type === 'part-start' && event.opens.type !== 'text' && event.opens.type !== 'reasoning') return true;
    if ((event.type === 'part-delta' || event.type === 'part-transcript') && event.delta !== '') return true;
  }
  return false;
}
