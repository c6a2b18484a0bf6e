/** Runway. Source: its API reference and official library. */
import { entryOf } from '../../canonical/entry-of.ts';
import type { JsonObject } from '../../canonical/json.ts';
import type { TaskProgress } from '../../canonical/task.ts';
import { authorizeByBearer, joinUrl } from '../chat/openai-compatible.ts';
import type { Target } from '../outgoing.ts';
import { imageAddress, imageOf } from './images-and-sizes.ts';
import { defined, jsonRequest, membersIn, plainRequest, requiredId } from './json-requests.ts';
import { dropped } from './losses.ts';
import { failure, stateOf, statesFrom } from './task-states.ts';
import type { VideoAdapter } from './video.ts';
import { videoProvider } from './video-provider.ts';

const WORDS = statesFrom({
  queued: ['PENDING', 'THROTTLED'],
  in_progress: ['RUNNING'],
  completed: ['SUCCEEDED'],
  failed: ['FAILED', 'CANCELLED'],
});
const VERSION = '2024-11-06';
/** The official library's base URL has no version. */
const placeOf = ({ baseUrl }: Target, path: string) =>
  joinUrl(/\/v1\/?$/.test(baseUrl) ? baseUrl : joinUrl(baseUrl, '/v1'), path);
const taskAt = (handle: unknown, target: Target) => placeOf(target, `/tasks/${encodeURIComponent(String(handle))}`);

/** Aspect ratios are sent as pixels. */
const SHAPES: { readonly [ratio: string]: string } = {
  '16:9': '1280:720',
  '9:16': '720:1280',
  '1:1': '960:960',
  '4:3': '1104:832',
  '3:4': '832:1104',
  '21:9': '1584:672',
};
/** Models that require a ratio, and Google's models, which accept a negative prompt and no seed. */
const SHAPED = /^(gen|veo)/;
const VEO = /^veo/;

const video: VideoAdapter = {
  defaultSeconds: 5,
  ignoresResolution: true,
  // Runway asks for at least 5 s between polls. Polls come up to a fifth early.
  firstLookMs: 6500,
  start(ask, target) {
    const { model } = target;
    const first = imageOf(ask, 'first');
    const last = imageOf(ask, 'last');
    const { width, height } = ask;
    const size =
      width !== undefined && height !== undefined ? `${width}:${height}` : entryOf(SHAPES, ask.aspectRatio ?? '');
    const isVeo = VEO.test(model);
    const frames = [
      ...(first ? [{ uri: imageAddress(first), position: 'first' }] : []),
      ...(last ? [{ uri: imageAddress(last), position: 'last' }] : []),
    ];
    const members = defined({
      ...ask.metadata,
      model,
      promptText: ask.prompt,
      promptImage: frames.length === 0 ? undefined : frames,
      ratio: size ?? ask.aspectRatio ?? (SHAPED.test(model) ? SHAPES['16:9'] : undefined),
      duration: ask.seconds,
      seed: isVeo ? undefined : ask.seed,
      negativePrompt: isVeo ? ask.negativePrompt : undefined,
    });
    const path = frames.length === 0 ? '/text_to_video' : '/image_to_video';
    return {
      outgoing: jsonRequest(placeOf(target, path), members),
      warnings: dropped(ask, isVeo ? 'seed' : 'negativePrompt', 'fps', 'resolution', 'n', 'reference'),
    };
  },
  readStart: (answered) => ({ handle: requiredId(membersIn(answered).id), seen: { state: 'queued' } }),
  poll: (handle, target) => plainRequest(taskAt(handle, target)),
  readPoll: (answered) => seenIn(membersIn(answered)),
  cancel: (handle, target) => plainRequest(taskAt(handle, target), 'DELETE'),
};

export const runway = videoProvider({
  name: 'runway',
  baseUrl: 'https://api.dev.runwayml.com',
  credentialVariable: 'RUNWAYML_API_SECRET',
  video,
  authorize(outgoing, target) {
    authorizeByBearer(outgoing, target);
    outgoing.headers['x-runway-version'] = VERSION;
  },
});

function seenIn({ status, progress, output, failure: sentence, failureCode }: JsonObject): TaskProgress {
  const state = stateOf(WORDS, status);
  const urls = (Array.isArray(output) ? output : []).filter((one) => typeof one === 'string');
  return {
    state,
    ...(typeof progress === 'number' && { percent: progress * 100 }),
    ...(state === 'completed' && { found: urls.map((url) => ({ url })) }),
    ...(state === 'failed' && { error: failure(failureCode, sentence) }),
  };
}
