/** Warnings for members of a video request that a provider cannot express. */
import type { VideoCall } from '../../canonical/task.ts';
import { imageOf } from './images-and-sizes.ts';

const LOSSES = {
  negativePrompt: '`negative_prompt` was dropped',
  fps: '`fps` was dropped',
  seed: '`seed` was dropped',
  size: '`size` was dropped',
  /** The aspect ratio is still sent. */
  exactSize: '`size` was sent as its aspect ratio only',
  sizeShape: '`size` was sent as its resolution only',
  aspectRatio: '`aspect_ratio` was dropped',
  resolution: '`resolution` was dropped',
  n: '`n` was dropped',
  last: '`image_tail` was dropped',
  reference: 'An image that neither begins nor ends the video was dropped',
} as const;
export type Loss = keyof typeof LOSSES;

/**
 * A video that begins with an image has the image's aspect ratio. For others a provider that only knows ratios is sent
 * the ratio.
 */
export function shapeLosses(framed: boolean): readonly Loss[] {
  return framed ? ['size', 'aspectRatio'] : ['exactSize'];
}

/** A warning for each of these that the request has. */
export function dropped(ask: VideoCall, ...unsayable: readonly Loss[]): string[] {
  return unsayable
    .filter((loss) => isAskedFor(ask, loss))
    .map((loss) => `${LOSSES[loss]}: the provider does not take it.`);
}

function isAskedFor(ask: VideoCall, loss: Loss): boolean {
  switch (loss) {
    case 'n':
      return ask.n !== 1;
    case 'size':
    case 'exactSize':
    case 'sizeShape':
      return ask.width !== undefined || ask.height !== undefined;
    case 'last':
    case 'reference':
      return imageOf(ask, loss) !== undefined;
    default:
      return ask[loss] !== undefined;
  }
}
