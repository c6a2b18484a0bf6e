/** Pictures that a vendor left at an address, fetched for a client that wants them in hand. */
import type { Call } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { ReplyEvent } from '../canonical/reply.ts';
import type { Frame } from '../dialects/dialect.ts';
import type { GuardedFetch } from '../transport/guarded-fetch.ts';
import type { Upstream } from './attempt.ts';
import { mediaTypeOf } from './media-type.ts';

/** The reply with every picture inline, unless the client takes addresses. */
export function picturesInHand(upstream: Upstream, call: Call, guard: GuardedFetch): Upstream {
  const takesAddresses = call.kind === 'image' && call.delivery !== 'b64_json';
  if (takesAddresses) return upstream;
  return {
    same: upstream.same,
    async next() {
      const frames = await upstream.next();
      return frames && Promise.all(frames.map((frame) => inHand(frame, guard)));
    },
  };
}

async function inHand(frame: Frame, guard: GuardedFetch): Promise<Frame> {
  if (!frame.events.some((event) => addressIn(event) !== undefined)) return frame;
  const events = await Promise.all(frame.events.map((event) => fetched(event, guard)));
  return { bytes: new Uint8Array(), events: events.flat() };
}

function addressIn(event: ReplyEvent): string | undefined {
  return event.type === 'part-start' && event.opens.type === 'image' ? event.opens.url : undefined;
}

async function fetched(event: ReplyEvent, guard: GuardedFetch): Promise<ReplyEvent[]> {
  const address = addressIn(event);
  if (address === undefined || event.type !== 'part-start' || event.opens.type !== 'image') return [event];
  const { choice, part, opens } = event;
  const { url: _, ...rest } = opens;
  try {
    const { bytes, contentType } = await guard.fetch(address, new AbortController().signal);
    const mimeType = mediaTypeOf('image', bytes, contentType);
    if (mimeType === undefined) throw new Error('The address holds no picture.');
    const delta = Buffer.from(bytes).toString('base64');
    return [
      { type: 'part-start', choice, part, opens: { ...rest, mimeType } },
      { type: 'part-delta', choice, part, delta },
    ];
  } catch (cause) {
    const sentence = "The picture could not be fetched from where the model's vendor left it.";
    throw new GatewayError('upstream_failed', sentence, { cause });
  }
}
