/** A bound on what comes in pieces. */
import { GatewayError } from '../canonical/errors.ts';

/** Passes pieces on and stops where they become too many. */
export async function* bounded(pieces: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > maxBytes)
      throw new GatewayError('upstream_failed', `The result is larger than ${maxBytes} bytes, the most kept here.`, {
        retryable: false,
      });
    yield piece;
  }
}
