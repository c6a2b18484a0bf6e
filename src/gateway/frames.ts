/** What the gateway looks for in the frames of a reply. */
import type { GatewayError } from '../canonical/errors.ts';
import type { Frame } from '../dialects/dialect.ts';

/** The error that a frame reports, if it reports one. */
export function errorIn({ events }: Frame): GatewayError | undefined {
  for (const event of events) if (event.type === 'error') return event.error;
  return undefined;
}

/** Whether the frame holds reasoning, or a reasoning signature. */
export function hasReasoning({ events }: Frame): boolean {
  for (const event of events) {
    if (event.type === 'part-seal' || (event.type === 'part-start' && event.opens.type === 'reasoning')) return true;
  }
  return false;
}

/** Whether the frame reports usage above zero. A report of zero counts as none: no provider answers for free. */
export function hasUsage({ events }: Frame): boolean {
  for (const event of events) if (event.type === 'usage' && event.usage.input + event.usage.output > 0) return true;
  return false;
}

/** One array of bytes; copied only where there are several. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
