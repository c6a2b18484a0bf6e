/** Google's videos (Veo) in the Gemini API: an operation that runs long, its results behind the vendor's key. */
import { GatewayError } from '../canonical/errors.ts';
import { isObject, type JsonObject } from '../canonical/json.ts';
import type { Picture, Progress } from '../canonical/task.ts';
import { googleUrl } from './google-url.ts';
import type { VideoAdapter } from './video.ts';
import {
  asking,
  dropped,
  failure,
  memberOf,
  membersIn,
  pictureOf,
  posting,
  ratioOf,
  requiredText,
  resolutionOf,
  said,
} from './video-vendor.ts';

export const googleVideo: VideoAdapter = {
  defaultSeconds: 8,
  firstLookMs: 10_000,
  start(ask, { baseUrl, model }) {
    const first = pictureOf(ask, 'first');
    const last = pictureOf(ask, 'last');
    const instance = said({ prompt: ask.prompt, image: first && inline(first), lastFrame: last && inline(last) });
    const parameters = said({
      ...ask.metadata,
      aspectRatio: ratioOf(ask),
      durationSeconds: ask.seconds,
      resolution: resolutionOf(ask),
      negativePrompt: ask.negativePrompt,
      seed: ask.seed,
      numberOfVideos: ask.n === 1 ? undefined : ask.n,
    });
    const url = googleUrl(baseUrl, model, 'predictLongRunning');
    return { outgoing: posting(url, { instances: [instance], parameters }), warnings: dropped(ask, 'fps') };
  },
  readStart(answered) {
    const operation = membersIn(answered);
    return { handle: requiredText(operation.name), seen: seenIn(operation) };
  },
  poll: (handle, { baseUrl }) => asking(googleUrl(baseUrl, String(handle))),
  readPoll: (answered) => seenIn(membersIn(answered)),
};

function inline({ source }: Picture): JsonObject {
  if (source.type === 'url') {
    const sentence = "The model's vendor takes pictures as data, not by address: send it as a file or as base64.";
    throw new GatewayError('invalid_request', sentence, { param: 'image' });
  }
  return { bytesBase64Encoded: source.base64, mimeType: source.mimeType ?? 'image/png' };
}

function seenIn({ done, error, response }: JsonObject): Progress {
  if (isObject(error)) return { state: 'failed', error: failure(undefined, error.message) };
  if (done !== true) return { state: 'in_progress' };
  const { generatedSamples, raiMediaFilteredReasons } = memberOf(
    isObject(response) ? response : {},
    'generateVideoResponse',
  );
  const found = (Array.isArray(generatedSamples) ? generatedSamples : []).flatMap((sample) => {
    const { uri } = memberOf(isObject(sample) ? sample : {}, 'video');
    return typeof uri === 'string' ? [{ url: uri, signed: true as const }] : [];
  });
  if (found.length > 0) return { state: 'completed', found };
  const [reason] = Array.isArray(raiMediaFilteredReasons) ? raiMediaFilteredReasons : [];
  return { state: 'failed', error: failure('content_policy', reason) };
}
