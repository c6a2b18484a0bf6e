/** The quality of a video, for providers with several qualities at different prices. */
import { GatewayError } from '../canonical/errors.ts';
import type { Price } from '../canonical/price.ts';
import type { VideoCall } from '../canonical/task.ts';
import { withOwnMembers } from '../providers/video/own-members.ts';
import type { VideoAdapter } from '../providers/video/video.ts';

/** What decides whether a quality may be requested. */
export interface Qualities {
  /** The adapters of the providers that may generate it. */
  readonly adapters: readonly VideoAdapter[];
  readonly price: Price;
  /** Whether requests without a matching price are passed on. */
  readonly allowsUnpriced: boolean;
}

/** The order without a resolution that one of the providers does not get: otherwise it could be charged at the price of another size. */
export function withTakenSize(ask: VideoCall, adapters: readonly VideoAdapter[]): VideoCall {
  const { resolution, ...rest } = ask;
  if (resolution === undefined || !adapters.some(({ ignoresResolution }) => ignoresResolution)) return ask;
  const warning = '`resolution` was dropped: the provider does not support it.';
  return { ...rest, dropped: [...(ask.dropped ?? []), warning] };
}

/** The order with its quality as named in prices. Throws `invalid_request` if the model has no price for it. */
export function withQuality(ask: VideoCall, { adapters, price, allowsUnpriced }: Qualities): VideoCall {
  const found = adapters.flatMap((video) => {
    const quality = video.qualityOf?.(withOwnMembers(video, ask).ask.metadata);
    return quality === undefined ? [] : [{ quality, plain: video.qualityOf?.({}) }];
  });
  const higher = found.find(({ quality, plain }) => quality !== plain);
  const { quality } = higher ?? found[0] ?? {};
  if (quality === undefined) return ask;
  const isPriced = !higher || price.clips?.some((clip) => clip.quality === quality);
  if (!isPriced && !allowsUnpriced) throw unpriced(ask, quality);
  return { ...ask, quality };
}

function unpriced({ words, metadata }: VideoCall, quality: string): GatewayError {
  const [mode] = quality.split('+');
  const member = mode === 'std' ? (metadata.sound === undefined ? 'voice_list' : 'sound') : 'mode';
  const param = words === undefined ? `metadata.${member}` : member;
  const sentence = `\`${param}\`: the price of the model has no \`perSecond\` of quality \`${quality}\`. Leave it out, or ask the operator: docs/reference/priced-members.md.`;
  return new GatewayError('invalid_request', sentence, { param });
}
