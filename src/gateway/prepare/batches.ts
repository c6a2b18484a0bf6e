/** Splits texts into batches that a provider embeds in one call, and joins their vectors. */
import type { EmbedCall } from '../../canonical/call.ts';
import type { ReplyEvent, Vector } from '../../canonical/reply.ts';
import { addUsage, type Usage } from '../../canonical/usage.ts';
import type { Upstream } from '../attempt/upstream.ts';

/** `most`: how many texts the provider takes in one call. */
export function batches(call: EmbedCall, most: number): EmbedCall[] {
  const { inputs, media } = call;
  if (inputs.length <= most) return [call];
  return Array.from({ length: Math.ceil(inputs.length / most) }, (_, batch) => {
    const [from, to] = [batch * most, (batch + 1) * most];
    const parts = media && { media: { ...media, parts: media.parts.slice(from, to) } };
    return { ...call, inputs: inputs.slice(from, to), ...parts };
  });
}

/** `width`: the texts in each batch but the last. Usage is known if every batch reported it. */
export function joinVectors(upstreams: readonly Upstream[], width: number): Upstream {
  let over = false;
  return {
    same: false,
    async next() {
      if (over) return undefined;
      over = true;
      return [{ bytes: new Uint8Array(), events: await joined(upstreams, width) }];
    },
  };
}

async function joined(upstreams: readonly Upstream[], width: number): Promise<ReplyEvent[]> {
  const vectors: Vector[] = [];
  const usages: Usage[] = [];
  let start: ReplyEvent | undefined;
  for (const [batch, upstream] of upstreams.entries()) {
    for (let frames = await upstream.next(); frames; frames = await upstream.next()) {
      for (const event of frames.flatMap((frame) => frame.events)) {
        if (event.type === 'reply-start') start ??= event;
        else if (event.type === 'usage') usages.push(event.usage);
        else if (event.type === 'result' && event.result.type === 'vectors') {
          for (const vector of event.result.vectors) vectors.push({ ...vector, index: vector.index + batch * width });
        }
      }
    }
  }
  const events: ReplyEvent[] = [{ type: 'result', result: { type: 'vectors', vectors } }, { type: 'reply-end' }];
  if (usages.length === upstreams.length) events.splice(1, 0, { type: 'usage', usage: usages.reduce(addUsage) });
  return start ? [start, ...events] : events;
}
