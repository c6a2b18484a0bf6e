/** Vidu. Source: its API reference (text, image, start-end and reference to video; get and cancel generation). */
import { isObject, type JsonObject } from '../../canonical/json.ts';
import type { TaskProgress } from '../../canonical/task.ts';
import { joinUrl } from '../chat/openai-compatible.ts';
import type { Target } from '../outgoing.ts';
import { imageAddress, imageOf, ratioOf, resolutionOf } from './images-and-sizes.ts';
import { defined, jsonRequest, membersIn, plainRequest, requiredId } from './json-requests.ts';
import { dropped, type Loss } from './losses.ts';
import { failure, stateOf, statesFrom } from './task-states.ts';
import type { VideoAdapter } from './video.ts';
import { videoProvider } from './video-provider.ts';

const WORDS = statesFrom({
  queued: ['created', 'queueing'],
  in_progress: ['processing'],
  completed: ['success'],
  failed: ['failed'],
});
/** By the number of images that begin and end the video. */
const KINDS = ['text2video', 'img2video', 'start-end2video'];
const taskAt = (handle: unknown, { baseUrl }: Target) =>
  joinUrl(baseUrl, `/tasks/${encodeURIComponent(String(handle))}`);

const video: VideoAdapter = {
  defaultSeconds: 5,
  start(ask, { baseUrl, model }) {
    const first = imageOf(ask, 'first');
    const last = imageOf(ask, 'last');
    const frames = first ? [first, ...(last ? [last] : [])] : [];
    const references = frames.length > 0 ? [] : ask.images.filter(({ role }) => role === 'reference');
    const images = [...frames, ...references];
    const members = defined({
      ...ask.metadata,
      model,
      prompt: ask.prompt,
      images: images.length === 0 ? undefined : images.map(imageAddress),
      duration: ask.seconds,
      seed: ask.seed,
      resolution: resolutionOf(ask),
      aspect_ratio: frames.length === 0 ? ratioOf(ask) : undefined,
    });
    const kind = references.length > 0 ? 'reference2video' : KINDS[frames.length];
    const lost: Loss[] = [
      ...(frames.length === 0 ? [] : (['aspectRatio', 'reference'] as const)),
      ...(first ? [] : (['last'] as const)),
    ];
    const warnings = dropped(ask, 'negativePrompt', 'fps', 'n', ...lost);
    return { outgoing: jsonRequest(joinUrl(baseUrl, `/${kind}`), members), warnings };
  },
  readStart(answered) {
    const task = membersIn(answered);
    return { handle: requiredId(task.task_id), seen: { state: 'queued' } };
  },
  poll: (handle, target) => plainRequest(`${taskAt(handle, target)}/creations`),
  readPoll: (answered) => seenIn(membersIn(answered)),
  cancel: (handle, target) => jsonRequest(`${taskAt(handle, target)}/cancel`, { id: handle }),
};

export const vidu = videoProvider({
  name: 'vidu',
  baseUrl: 'https://api.vidu.com/ent/v2',
  credentialVariable: 'VIDU_API_KEY',
  video,
  authorize({ headers }, { credential }) {
    if (credential !== undefined) headers.authorization = `Token ${credential}`;
  },
});

function seenIn({ state: word, creations, err_code: code }: JsonObject): TaskProgress {
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
