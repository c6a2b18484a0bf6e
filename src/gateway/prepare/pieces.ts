/** A call that its target cannot answer in one reply, sent as several calls whose answers are joined. */
import type { Call, ImageCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { Cancellation } from '../../transport/cancellation.ts';
import type { Upstream } from '../attempt/upstream.ts';
import type { CallContext } from '../call-context.ts';
import type { TargetRoute } from '../target-route.ts';
import { batches, joinVectors } from './batches.ts';
import { fanOut, merge, type PieceMeter } from './fan-out.ts';

/** Whether the target may need several calls for it. */
export function mayBeSplit(call: Call, { quirks }: TargetRoute, own: boolean): boolean {
  if (call.kind === 'chat') return !own && (call.completion !== undefined || (call.sampling.n ?? 1) > 1);
  if (call.kind === 'embed') return call.inputs.length > quirks.maxInputsPerCall;
  return call.kind === 'image' && call.n > quirks.maxImagesPerCall;
}

/** The calls that together answer `call`; usually the call itself. `own`: the target has the client's format. */
export function inPieces(call: Call, { dialect, quirks }: TargetRoute, own: boolean): Call[] {
  switch (call.kind) {
    case 'chat':
      if (own) return [call];
      // Models that generate images in conversations return one image per conversation.
      return fanOut(call, call.modalities?.includes('image') ? { ...dialect, singleChoice: true } : dialect);
    case 'embed':
      return batches(call, quirks.maxInputsPerCall);
    case 'image':
      return imageBatches(call, quirks.maxImagesPerCall);
    case 'rerank':
    case 'speech':
    case 'transcription':
    case 'moderation':
      return [call];
    default:
      return call satisfies never;
  }
}

/** `most`: how many images the provider generates in one call. */
function imageBatches(call: ImageCall, most: number): ImageCall[] {
  if (call.n <= most) return [call];
  const parts = Array.from({ length: Math.ceil(call.n / most) });
  return parts.map((_, part) => ({ ...call, n: Math.min(most, call.n - part * most) }));
}

type Send = (call: Call, cancellation: Cancellation) => Promise<Upstream>;

/** Sends all pieces and joins their answers. If one fails the others are cancelled. */
export async function sendPieces(context: CallContext, calls: readonly Call[], send: Send): Promise<Upstream> {
  const branches = new Cancellation(context.cancellation);
  context.cancellation.add(branches);
  context.sendings = sharesInput(calls) ? calls.length : 1;
  let answered = 0;
  try {
    const upstreams = await startAll(calls, async (call) => {
      const upstream = await send(call, branches);
      answered++;
      return upstream;
    });
    return joinPieces(calls, upstreams, context.meter);
  } catch (thrown) {
    branches.cancel();
    if (thrown instanceof GatewayError) thrown.partlyAnswered = answered > 0;
    throw thrown;
  }
}

/** Whether every piece sends the whole input: the choices of one prompt share the same messages object. */
function sharesInput([first, ...others]: readonly Call[]): boolean {
  return first?.kind === 'chat' && others.every((one) => one.kind === 'chat' && one.messages === first.messages);
}

/** The maximum of concurrent non-streaming pieces of a call. */
const PIECES_AT_ONCE = 8;

/** Streams start together, because they are read together. Non-streaming pieces are sent a few at a time. */
async function startAll(calls: readonly Call[], start: (call: Call) => Promise<Upstream>): Promise<Upstream[]> {
  if (calls[0]?.stream) return Promise.all(calls.map(start));
  const upstreams: Upstream[] = [];
  const left = calls.entries();
  const work = async () => {
    for (const [index, call] of left) upstreams[index] = await start(call);
  };
  await Promise.all(Array.from({ length: PIECES_AT_ONCE }, work));
  return upstreams;
}

/** The answers to `calls`, in their order, as one; `meter` counts the usage of each. */
export function joinPieces(calls: readonly Call[], upstreams: readonly Upstream[], meter: PieceMeter): Upstream {
  const [first] = calls;
  if (first?.kind === 'embed') return joinVectors(upstreams, first.inputs.length);
  const width = first?.kind === 'chat' ? (first.sampling.n ?? 1) : first?.kind === 'image' ? first.n : 1;
  // The choices of one prompt share the same messages object.
  const prompts = new Set(calls.map((call) => (call.kind === 'chat' ? call.messages : call)));
  meter.split(calls.length, width, prompts.size);
  return merge(upstreams, width, meter);
}
