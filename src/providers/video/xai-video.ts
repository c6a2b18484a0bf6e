/** xAI's videos (Grok Imagine). Source: xAI API reference, Videos. */
import type { JsonObject } from '../../canonical/json.ts';
import type { TaskProgress } from '../../canonical/task.ts';
import { joinUrl } from '../chat/openai-compatible.ts';
import { imageAddress, imageOf, ratioOf, resolutionOf } from './images-and-sizes.ts';
import { defined, jsonRequest, memberOf, membersIn, plainRequest, requiredId } from './json-requests.ts';
import { dropped } from './losses.ts';
import { failure, stateOf, statesFrom } from './task-states.ts';
import type { ProviderAnswer, VideoAdapter } from './video.ts';

const WORDS = statesFrom({
  queued: ['pending'],
  in_progress: ['in_progress'],
  completed: ['done'],
  failed: ['failed', 'expired'],
});

export const xaiVideo: VideoAdapter = {
  defaultSeconds: 8,
  start(ask, { baseUrl, model }) {
    const first = imageOf(ask, 'first');
    const references = ask.images.filter(({ role }) => role === 'reference');
    const members = defined({
      ...ask.metadata,
      model,
      prompt: ask.prompt,
      duration: ask.seconds,
      aspect_ratio: ratioOf(ask),
      resolution: resolutionOf(ask),
      image: first && { url: imageAddress(first) },
      reference_images: references.length === 0 ? undefined : references.map((one) => ({ url: imageAddress(one) })),
    });
    return {
      outgoing: jsonRequest(joinUrl(baseUrl, '/videos/generations'), members),
      warnings: dropped(ask, 'negativePrompt', 'fps', 'seed', 'n', 'last'),
    };
  },
  readStart: (answered) => ({ handle: requiredId(membersIn(answered).request_id), seen: { state: 'queued' } }),
  poll: (handle, { baseUrl }) => plainRequest(joinUrl(baseUrl, `/videos/${encodeURIComponent(String(handle))}`)),
  readPoll: (answered) => (isUnderWay(answered) ? { state: 'in_progress' } : seenIn(membersIn(answered))),
};

/** A running task may be reported by status 202 without a body. */
function isUnderWay({ status, body }: ProviderAnswer): boolean {
  return status === 202 && body.length === 0;
}

function seenIn({ status, progress, error, ...members }: JsonObject): TaskProgress {
  const state = stateOf(WORDS, status);
  const { url, duration, respect_moderation: isProper } = memberOf(members, 'video');
  if (state === 'completed' && isProper === false)
    return { state: 'failed', error: failure('content_policy', undefined) };
  const { code = members.code, message = error } = memberOf({ ...(error !== undefined && { error }) }, 'error');
  return {
    state,
    ...(typeof progress === 'number' && { percent: progress }),
    ...(state === 'completed' && { found: typeof url === 'string' ? [{ url }] : [] }),
    ...(state === 'completed' && typeof duration === 'number' && duration > 0 && { billed: { seconds: duration } }),
    ...(state === 'failed' && { error: failure(code, message) }),
  };
}
