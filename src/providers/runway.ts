/** Runway. */
import type { JsonObject } from '../canonical/json.ts';
import type { Progress } from '../canonical/task.ts';
import { authorizeByBearer, joinUrl } from './openai-compatible.ts';
import type { Target } from './provider.ts';
import type { VideoAdapter } from './video.ts';
import {
  addressOf,
  asking,
  dropped,
  failure,
  membersIn,
  pictureOf,
  posting,
  ratioOf,
  requiredText,
  said,
  stateOf,
  videoVendor,
  wordsFor,
} from './video-vendor.ts';

const WORDS = wordsFor({
  queued: ['PENDING', 'THROTTLED'],
  in_progress: ['RUNNING'],
  completed: ['SUCCEEDED'],
  failed: ['FAILED', 'CANCELLED'],
});
const VERSION = '2024-11-06';
const taskAt = (handle: unknown, { baseUrl }: Target) =>
  joinUrl(baseUrl, `/tasks/${encodeURIComponent(String(handle))}`);

const video: VideoAdapter = {
  defaultSeconds: 5,
  start(ask, { baseUrl, model }) {
    const first = pictureOf(ask, 'first');
    const last = pictureOf(ask, 'last');
    const { width, height } = ask;
    const frames = [
      ...(first ? [{ uri: addressOf(first), position: 'first' }] : []),
      ...(last ? [{ uri: addressOf(last), position: 'last' }] : []),
    ];
    const members = said({
      ...ask.metadata,
      model,
      promptText: ask.prompt,
      promptImage: frames.length === 0 ? undefined : frames,
      ratio: width !== undefined && height !== undefined ? `${width}:${height}` : ratioOf(ask),
      duration: ask.seconds,
      seed: ask.seed,
    });
    const path = frames.length === 0 ? '/text_to_video' : '/image_to_video';
    return {
      outgoing: posting(joinUrl(baseUrl, path), members),
      warnings: dropped(ask, 'negativePrompt', 'fps', 'resolution', 'n'),
    };
  },
  readStart: (answered) => ({ handle: requiredText(membersIn(answered).id), seen: { state: 'queued' } }),
  poll: (handle, target) => asking(taskAt(handle, target)),
  readPoll: (answered) => seenIn(membersIn(answered)),
  cancel: (handle, target) => asking(taskAt(handle, target), 'DELETE'),
};

export const runway = videoVendor({
  name: 'runway',
  baseUrl: 'https://api.dev.runwayml.com/v1',
  credentialVariable: 'RUNWAYML_API_SECRET',
  video,
  authorize(outgoing, target) {
    authorizeByBearer(outgoing, target);
    outgoing.headers['x-runway-version'] = VERSION;
  },
});

function seenIn({ status, progress, output, failure: sentence, failureCode }: JsonObject): Progress {
  const state = stateOf(WORDS, status);
  const urls = (Array.isArray(output) ? output : []).filter((one) => typeof one === 'string');
  return {
    state,
    ...(typeof progress === 'number' && { percent: progress * 100 }),
    ...(state === 'completed' && { found: urls.map((url) => ({ url })) }),
    ...(state === 'failed' && { error: failure(failureCode, sentence) }),
  };
}
