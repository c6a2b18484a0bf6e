/** How a whole reply ends: also where its provider has answered, and it is no answer for the client. */
import { GatewayError } from '../canonical/errors.ts';
import type { Frame, Writer } from '../dialects/dialect.ts';
import type { CallContext } from './call-context.ts';

/** What closes a reply; what it throws may be charged all the same. */
export function endOf(context: CallContext, writer: Writer, frames: readonly Frame[]): Uint8Array {
  try {
    return writer.end();
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.billed) for (const frame of frames) context.meter.see(frame.events);
    throw thrown;
  }
}
