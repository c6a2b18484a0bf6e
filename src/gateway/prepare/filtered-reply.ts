/** A reply that the provider's content filter has refused completely: nothing was delivered, so another model may answer. */
import { GatewayError } from '../../canonical/errors.ts';
import type { Frame } from '../../dialects/dialect.ts';
import type { Upstream } from '../attempt/upstream.ts';
import { ReadAhead } from './read-ahead.ts';

/** Reads until there is content. Throws `upstream_refused` if the filter refused everything. */
export async function unlessFiltered(upstream: Upstream): Promise<Upstream> {
  const read: (readonly Frame[])[] = [];
  for (let frames = await upstream.next(); frames; frames = await upstream.next()) {
    read.push(frames);
    const verdict = verdictOf(frames);
    if (verdict === 'delivered') break;
    if (verdict === 'filtered') {
      void drain(upstream);
      throw new GatewayError('upstream_refused', "The provider's content filter refused the request.", {
        providerCode: 'content_filter',
      });
    }
  }
  return new ReadAhead(upstream, read);
}

function verdictOf(frames: readonly Frame[]): 'filtered' | 'delivered' | undefined {
  for (const { events } of frames) {
    for (const event of events) {
      if (event.type === 'choice-end') {
        const { reason } = event.finish;
        return reason === 'content-filter' || reason === 'refusal' ? 'filtered' : 'delivered';
      }
      if (event.type === 'part-transcript' || event.type === 'result') return 'delivered';
      if (event.type === 'part-delta' && event.delta !== '') return 'delivered';
    }
  }
  return undefined;
}

/** Reads to the end, so that the connection can be used again. */
async function drain(upstream: Upstream): Promise<void> {
  try {
    while (await upstream.next());
  } catch {
    // The reply is not used.
  }
}
