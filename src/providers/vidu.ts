/** Vidu. */
import { isObject, type JsonObject } from '../canonical/json.ts';
import type { Progress } from '../canonical/task.ts';
import { joinUrl } from './openai-compatible.ts';
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
  resolutionOf,
  said,
  stateOf,
  videoVendor,
  wordsFor,
} from './video-vendor.ts';

const WORDS = wordsFor({
  queued: ['created', 'queueing'],
  in_progress: ['processing'],
  completed: ['success'],
  failed: ['failed'],
});
const taskAt = (handle: unknown, { baseUrl }: Target) =>
  joinUrl(baseUrl, `/tasks/${encodeURIComponent(String(handle))}`);

const video: VideoAdapter = {
  defaultSeconds: 5,
  start(ask, { baseUrl, model }) {
    const frames = [pictureOf(ask, 'first'), pictureOf(ask, 'last')].filter((one) => one !== undefined);
    const members = said({
      ...ask.metadata,
      model,
      prompt: ask.prompt,
      images: frames.length === 0 ? undefined : frames.map(addressOf),
      duration: ask.seconds,
      seed: ask.seed,
      resolution: resolutionOf(ask),
      aspect_ratio: frames.length === 0 ? ratioOf(ask) : undefined,
    });
    const path = ['/text2video', '/img2video', '/start-end2video'][frames.length] ?? '/text2video';
    return { outgoing: posting(joinUrl(baseUrl, path), members), warnings: dropped(ask, 'negativePrompt', 'fps', 'n') };
  },
  readStart(answered) {
    const task = membersIn(answered);
    return { handle: requiredText(task.task_id), seen: { state: 'queued' } };
  },
  poll: (handle, target) => asking(`${taskAt(handle, target)}/creations`),
  readPoll: (answered) => seenIn(membersIn(answered)),
  cancel: (handle, target) => asking(`${taskAt(handle, target)}/cancel`, 'POST'),
};

export const vidu = videoVendor({
  name: 'vidu',
  baseUrl: 'https://api.vidu.com/ent/v2',
  credentialVariable: 'VIDU_API_KEY',
  video,
  authorize({ headers }, { credential }) {
    if (credential !== undefined) headers.authorization = `Token ${credential}`;
  },
});

function seenIn({ state: word, creations, err_code: code }: JsonObject): Progress {
  const state = stateOf(WORDS, word);
  const found = (Array.isArray(creations) ? creations : []).flatMap((one) =>
    isObject(one) && typeof one.url === 'string' ? [{ url: one.url }] : [],
  );
  return {
    state,
    ...(state === 'completed' && { found }),
    ...(state === 'failed' && { error: failure(code, undefined) }),
  };
}
