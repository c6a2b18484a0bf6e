/** OpenRouter's videos: one format for models of many companies. Source: OpenRouter's video generation reference. */
import type { JsonObject } from '../../canonical/json.ts';
import type { TaskProgress } from '../../canonical/task.ts';
import { joinUrl } from '../chat/openai-compatible.ts';
import { imageAddress } from './images-and-sizes.ts';
import { defined, jsonRequest, memberOf, membersIn, plainRequest, requiredId } from './json-requests.ts';
import { dropped } from './losses.ts';
import { failure, stateOf, statesFrom } from './task-states.ts';
import type { VideoAdapter } from './video.ts';

const WORDS = statesFrom({
  queued: ['pending'],
  in_progress: ['in_progress'],
  completed: ['completed'],
  failed: ['failed', 'cancelled', 'expired'],
});

export const openrouterVideo: VideoAdapter = {
  defaultSeconds: 8,
  firstLookMs: 10_000,
  start(ask, { baseUrl, model }) {
    const { width, height } = ask;
    const frames = ask.images
      .filter(({ role }) => role !== 'reference')
      .map((one) => ({ type: 'image_url', image_url: { url: imageAddress(one) }, frame_type: `${one.role}_frame` }));
    const references = ask.images
      .filter(({ role }) => role === 'reference')
      .map((one) => ({ type: 'image_url', image_url: { url: imageAddress(one) } }));
    const members = defined({
      ...ask.metadata,
      model,
      prompt: ask.prompt,
      duration: ask.seconds,
      size: width !== undefined && height !== undefined ? `${width}x${height}` : undefined,
      aspect_ratio: ask.aspectRatio,
      resolution: ask.resolution,
      seed: ask.seed,
      frame_images: frames.length === 0 ? undefined : frames,
      input_references: references.length === 0 ? undefined : references,
    });
    return {
      outgoing: jsonRequest(joinUrl(baseUrl, '/videos'), members),
      warnings: dropped(ask, 'negativePrompt', 'fps', 'n'),
    };
  },
  readStart: (answered) => ({ handle: requiredId(membersIn(answered).id), seen: { state: 'queued' } }),
  poll: (handle, { baseUrl }) => plainRequest(joinUrl(baseUrl, `/videos/${encodeURIComponent(String(handle))}`)),
  readPoll: (answered) => seenIn(membersIn(answered)),
};

function seenIn(job: JsonObject): TaskProgress {
  const state = stateOf(WORDS, job.status);
  const urls = (Array.isArray(job.unsigned_urls) ? job.unsigned_urls : []).filter((one) => typeof one === 'string');
  const { code, message = job.error } = memberOf(job, 'error');
  return {
    state,
    ...(state === 'completed' && { found: urls.map((url) => ({ url, signed: true as const })) }),
    ...(state === 'failed' && { error: failure(code, message) }),
  };
}
