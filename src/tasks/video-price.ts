/** What a video costs: before, from what is asked; after, from what was made. */
import { writePixels } from '../canonical/image-size.ts';
import type { Money } from '../canonical/money.ts';
import type { Price } from '../canonical/price.ts';
import type { Progress, VideoAsk } from '../canonical/task.ts';
import type { Usage } from '../canonical/usage.ts';
import { charge } from '../ledger/charge.ts';

type Asked = Pick<VideoAsk, 'seconds' | 'width' | 'height' | 'fps' | 'resolution' | 'n'>;

/** Where a vendor bills tokens: width x height x frames / 1024, by its own rule; the largest picture where none is named. */
const PIXELS_A_TOKEN = 1024;
const LARGEST = { width: 1920, height: 1088 };
const FRAMES_A_SECOND = 24;

/** The most it can cost: each video asked for, each as a call of its own. */
export function quoteVideo(ask: Asked, price: Price): Money {
  return charge(videoUsage(ask, ask.n, { outputTokens: tokensOf(ask) * ask.n }), price);
}

function tokensOf({
  seconds = 0,
  width = LARGEST.width,
  height = LARGEST.height,
  fps = FRAMES_A_SECOND,
}: Asked): number {
  return Math.ceil((width * height * fps * seconds) / PIXELS_A_TOKEN);
}

/** Usage of so many videos: seconds in all, as the vendor says, else as asked; size in the words it was asked for. */
export function videoUsage(ask: Asked, videos: number, billed: Progress['billed'] = {}): Usage {
  const { width, height, resolution } = ask;
  const size = width !== undefined && height !== undefined ? writePixels({ width, height }) : resolution;
  return {
    input: 0,
    output: billed.outputTokens ?? 0,
    videos,
    ...(size !== undefined && { size }),
    seconds: billed.seconds ?? (ask.seconds ?? 0) * videos,
    source: billed.seconds === undefined && billed.outputTokens === undefined ? 'counted' : 'reported',
  };
}
