/** Models that count an image as several times the usual tokens, at a rate as much lower. */
import type { InputEstimate } from './estimate-tokens.ts';

/** By the provider's name of the model: how many times the usual estimate of an image. */
const TIMES: readonly { readonly match: RegExp; readonly times: number }[] = [
  // An image of 1024 x 1024 pixels has 25,501 tokens, so that it costs as much as with GPT-4o.
  { match: /gpt-4o-mini/i, times: 16 },
];

/** The estimate for a call that any of these targets may answer. */
export function withImagesAt(estimate: InputEstimate, targets: readonly { readonly model: string }[]): InputEstimate {
  if (estimate.image === 0) return estimate;
  let most = 1;
  for (const { match, times } of TIMES)
    if (targets.some(({ model }) => match.test(model))) most = Math.max(most, times);
  return { ...estimate, image: most * estimate.image };
}
