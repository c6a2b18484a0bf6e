/** Some hosts wrap a dialect's stream in another format (an envelope). This removes it. */
import { GatewayError } from '../../canonical/errors.ts';
import type { Frame, Reader } from '../dialect.ts';

export interface Framing {
  /** Whether a response of this content type has the envelope. Error responses have none. */
  holds(contentType: string): boolean;
  /** The content type of the wrapped stream. */
  readonly inner: string;
  open(): FrameReader;
}

/**
 * Removes the envelope and returns the bytes that the dialect's own provider would have sent. The result does not
 * depend on how the bytes are split into chunks.
 */
export interface FrameReader {
  /** Throws a GatewayError if the envelope is damaged, after everything before the damage was returned. */
  read(chunk: Uint8Array): Uint8Array;
  end(): void;
}

/** Reads a wrapped stream. A damaged envelope ends the reply with an error, as any other failure does. */
export function readThrough(opener: FrameReader, reader: Reader): Reader {
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
