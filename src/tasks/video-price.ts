/** Prices of videos: the maximum before, from the request; the actual cost after, from the result. */
import { pixelsOfResolution, writePixels } from '../canonical/image-size.ts';
import { type Money, writeMoney } from '../canonical/money.ts';
import type { Price } from '../canonical/price.ts';
import type { TaskProgress, VideoCall } from '../canonical/task.ts';
import { figure, type Usage } from '../canonical/usage.ts';
import { isBeyondDoubt, isDisputed } from '../ledger/doubt.ts';
import { charge } from '../ledger/pricing/charge.ts';

type VideoOrder = Pick<VideoCall, 'seconds' | 'width' | 'height' | 'fps' | 'resolution' | 'quality' | 'n'>;

/** For providers that bill tokens: width x height x frames / 1024, by the providers' rule. Without a stated size, the largest. */
const PIXELS_A_TOKEN = 1024;
const LARGEST = { width: 1920, height: 1088 };
const FRAMES_A_SECOND = 24;

/** The maximum cost: each requested video counts as a call. */
export function quoteVideo(ask: VideoOrder, price: Price): Money {
  return charge(videoUsage(ask, ask.n, { outputTokens: tokensOf(ask) * ask.n }), price);
}

function tokensOf({ seconds = 0, width, height, resolution, fps = 0 }: VideoOrder): number {
  const hasSize = width !== undefined && height !== undefined;
  const pixels = hasSize ? width * height : LARGEST.width * LARGEST.height;
  // A resolution does not state the aspect ratio: the largest number of pixels that it can mean is used.
  const meant = hasSize || resolution === undefined ? 0 : pixelsOfResolution(resolution);
  // Providers that bill tokens do not take `fps`: fewer frames would be held for than they generate.
  const frames = Math.max(fps, FRAMES_A_SECOND);
  return Math.ceil((Math.max(pixels, Number.isFinite(meant) ? meant : 0) * frames * seconds) / PIXELS_A_TOKEN);
}

/** The charge for this number of videos: by the provider's report if it fits the order; otherwise the hold, and the call is disputed. */
export function dueFor(
  ask: VideoOrder,
  videos: number,
  billed: TaskProgress['billed'],
  price: Price | undefined,
  held: Money,
): { usage: Usage; cost: Money; disputed?: true } {
  const usage = videoUsage(ask, videos, billed);
  if (!price) return { usage, cost: held };
  const cost = charge(usage, price);
  if (isBeyondDoubt(cost, held) || !isDisputed(usage, cost, held, mostOf(ask))) return { usage, cost };
  const claimed = { cost: writeMoney(cost), usage };
  return { usage: { ...videoUsage(ask, videos), claimed }, cost: held, disputed: true };
}

/** For an order without a length. */
const LONGEST_SECONDS = 60;

function mostOf(ask: VideoOrder) {
  const seconds = ask.seconds ?? LONGEST_SECONDS;
  return { seconds: seconds * ask.n, output: tokensOf({ ...ask, seconds }) * ask.n };
}

/** The usage of this number of videos: seconds in total by the provider's report, otherwise as requested; the size as requested. */
export function videoUsage(ask: VideoOrder, videos: number, reported: TaskProgress['billed'] = {}): Usage {
  const billed = figuresIn(reported);
  const { width, height, resolution, quality } = ask;
  const size = width !== undefined && height !== undefined ? writePixels({ width, height }) : resolution;
  return {
    input: 0,
    output: billed.outputTokens ?? 0,
    videos,
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    seconds: billed.seconds ?? (ask.seconds ?? 0) * videos,
    source: billed.seconds === undefined && billed.outputTokens === undefined ? 'counted' : 'reported',
  };
}

/** The valid figures; seconds may be fractional. */
function figuresIn({
  seconds,
  outputTokens,
}: NonNullable<TaskProgress['billed']>): NonNullable<TaskProgress['billed']> {
  const isLength = seconds !== undefined && Number.isFinite(seconds) && seconds >= 0;
  const isCount = outputTokens !== undefined && !Number.isNaN(figure(outputTokens));
  return { ...(isLength && { seconds }), ...(isCount && { outputTokens }) };
}
