/** An envelope around a dialect's stream: some hosts do not send it as the dialect's own provider does. */
import { GatewayError } from '../../canonical/errors.ts';
import type { Frame, Reader } from '../dialect.ts';

export interface Framing {
  /** Whether an answer of this content type is in the envelope: refusals are not. */
  holds(contentType: string): boolean;
  /** The content type of what is inside. */
  readonly inner: string;
  open(): Opener;
}

/** Takes the envelope off: the bytes that the dialect's own provider would have sent. Any cutting gives the same bytes. */
export interface Opener {
  /** Throws GatewayError where the envelope is damaged; what came whole before has been given out. */
  read(chunk: Uint8Array): Uint8Array;
  end(): void;
}

/** Reads through an envelope. What is wrong with it ends the reply, as any other failure does. */
export function readThrough(opener: Opener, reader: Reader): Reader {
  let isBroken = false;

  function guarded(frames: () => Frame[]): Frame[] {
    if (isBroken) return [];
    try {
      return frames();
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      isBroken = true;
      return [{ bytes: new Uint8Array(), events: [{ type: 'error', error: thrown }] }];
    }
  }

  return {
    read: (chunk) => guarded(() => reader.read(opener.read(chunk))),
    end: () =>
      guarded(() => {
        opener.end();
        return reader.end();
      }),
  };
}
