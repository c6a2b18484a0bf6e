/** A call that its target can only answer in pieces, by kind: choices of a conversation, batches of texts. */
import type { Call, ImageCall } from '../../canonical/call.ts';
import type { TargetRoute } from '../target-route.ts';
import type { Upstream } from '../upstream.ts';
import { batches, joinVectors } from './batches.ts';
import { fanOut, merge, type PieceMeter } from './fan-out.ts';

/** The calls that together answer `call`, mostly the call itself. `own`: the target speaks the client's dialect. */
export function inPieces(call: Call, { dialect, quirks }: TargetRoute, own: boolean): Call[] {
  switch (call.kind) {
    case 'chat':
      // Models that draw give one image a conversation.
      if (call.modalities?.includes('image')) return own ? [call] : fanOut(call, { ...dialect, singleChoice: true });
      return own ? [call] : fanOut(call, dialect);
    case 'embed':
      return batches(call, quirks.mostInputs);
    case 'image':
      return drawings(call, quirks.mostImages);
    case 'rerank':
    case 'speech':
    case 'transcription':
    case 'moderation':
      return [call];
    default:
      return call satisfies never;
  }
}

/** `most`: how many images the provider draws at once. */
function drawings(call: ImageCall, most = Number.POSITIVE_INFINITY): ImageCall[] {
  if (call.n <= most) return [call];
  const batches = Array.from({ length: Math.ceil(call.n / most) });
  return batches.map((_, batch) => ({ ...call, n: Math.min(most, call.n - batch * most) }));
}

/** The answers to `calls`, in their order, as one; `meter` learns what each consumes. */
export function joinPieces(calls: readonly Call[], upstreams: readonly Upstream[], meter: PieceMeter): Upstream {
  const [first] = calls;
  if (first?.kind === 'embed') return joinVectors(upstreams, first.inputs.length);
  const width = first?.kind === 'chat' ? (first.sampling.n ?? 1) : first?.kind === 'image' ? first.n : 1;
  // Choices of one prompt are asked for with the very same messages.
  const prompts = new Set(calls.map((call) => (call.kind === 'chat' ? call.messages : call)));
  meter.split(calls.length, width, prompts.size);
  return merge(upstreams, width, meter);
}
