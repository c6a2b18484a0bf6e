/** Limits the size of a stream. */
import { GatewayError } from '../canonical/errors.ts';

/** Passes pieces on and throws when they exceed the limit. */
export async function* bounded(pieces: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > maxBytes)
      throw new GatewayError('upstream_failed', `The result is larger than the maximum of ${maxBytes} bytes.`, {
        retryable: false,
      });
    yield piece;
  }
}
