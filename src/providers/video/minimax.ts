/**
 * MiniMax (Hailuo). A finished task names a file, whose URL needs another request; newer models return the URL. Source:
 * MiniMax video generation reference.
 */
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { TaskImage, TaskProgress, VideoCall } from '../../canonical/task.ts';
import { joinUrl } from '../chat/openai-compatible.ts';
import type { Target } from '../outgoing.ts';
import { imageAddress, imageOf, ratioOf, resolutionOf } from './images-and-sizes.ts';
import { defined, jsonRequest, memberOf, membersIn, plainRequest, refusalIn, requiredId } from './json-requests.ts';
import { dropped, shapeLosses } from './losses.ts';
import { failure, stateOf, statesFrom } from './task-states.ts';
import type { ProviderAnswer, VideoAdapter } from './video.ts';
import { videoProvider } from './video-provider.ts';

const WORDS = statesFrom({
  queued: ['Preparing', 'Queueing', 'queued'],
  in_progress: ['Processing', 'running'],
  completed: ['Success', 'succeeded'],
  failed: ['Fail', 'failed', 'cancelled', 'expired'],
});
/**
 * MiniMax always responds with status 200. This maps its codes to HTTP statuses; unlisted codes are failures at the
 * provider.
 */
const STATUSES: { readonly [code: string]: number } = {
  1002: 429,
  1004: 401,
  1008: 402,
  1026: 400,
  1027: 400,
  1039: 429,
  2013: 400,
  2049: 401,
};
/** Error codes of content checks, on the request or on the result. */
const JUDGED: ReadonlySet<Json | undefined> = new Set([1026, 1027]);
/** Features of Hailuo models; older models have no options. */
const HAILUO = /hailuo/i;
const HAILUO_CLASSES = [512, 768, 1080];
/** Models of API version 2. */
const SECOND = /^MiniMax-H\d/i;
const ROLES: { readonly [role in TaskImage['role']]: string } = {
  first: 'first_frame',
  last: 'last_frame',
  reference: 'reference_image',
};

const video: VideoAdapter = {
  defaultSeconds: 6,
  start(ask, target) {
    if (SECOND.test(target.model)) return secondStart(ask, target);
    const first = imageOf(ask, 'first');
    const last = imageOf(ask, 'last');
    const members = defined({
      ...ask.metadata,
      model: target.model,
      prompt: ask.prompt,
      duration: ask.seconds,
      resolution: resolutionOf(ask, HAILUO.test(target.model) ? HAILUO_CLASSES : undefined)?.toUpperCase(),
      first_frame_image: first && imageAddress(first),
      last_frame_image: last && imageAddress(last),
    });
    return {
      outgoing: jsonRequest(joinUrl(target.baseUrl, '/video_generation'), members),
      warnings: dropped(ask, 'negativePrompt', 'fps', 'seed', 'n', 'sizeShape', 'aspectRatio', 'reference'),
    };
  },
  readStart: (answered) => ({ handle: requiredId(replyIn(answered).task_id), seen: { state: 'queued' } }),
  poll(handle, { baseUrl, model }) {
    if (isObject(handle))
      return plainRequest(joinUrl(baseUrl, `/files/retrieve?file_id=${encodeURIComponent(String(handle.file))}`));
    const id = encodeURIComponent(String(handle));
    if (SECOND.test(model)) return plainRequest(joinUrl(secondVersion(baseUrl), `/query/video_generation/${id}`));
    return plainRequest(joinUrl(baseUrl, `/query/video_generation?task_id=${id}`));
  },
  readPoll(answered, handle) {
    if (isObject(handle)) return fileIn(replyIn(answered));
    return verdictIn(answered) ?? seenIn(replyIn(answered));
  },
};

export const minimax = videoProvider({
  name: 'minimax',
  baseUrl: 'https://api.minimax.io/v1',
  credentialVariable: 'MINIMAX_API_KEY',
  video,
});

function secondVersion(baseUrl: string): string {
  return baseUrl.replace(/\/v1\/?$/, '/v2');
}

function secondStart(ask: VideoCall, { baseUrl, model }: Target) {
  const framed = ask.images.some(({ role }) => role !== 'reference');
  const text = ask.prompt === undefined ? [] : [{ type: 'text', text: ask.prompt }];
  const images = ask.images.map((image) => ({
    type: 'image_url',
    image_url: { url: imageAddress(image) },
    role: ROLES[image.role],
  }));
  const members = defined({
    resolution: '2K',
    ...ask.metadata,
    model,
    content: [...text, ...images],
    duration: ask.seconds,
    ratio: framed ? undefined : ratioOf(ask),
    ...(ask.resolution !== undefined && { resolution: ask.resolution.toUpperCase() }),
  });
  const lost = dropped(ask, 'negativePrompt', 'fps', 'seed', 'n', ...shapeLosses(framed));
  return { outgoing: jsonRequest(joinUrl(secondVersion(baseUrl), '/video_generation'), members), warnings: lost };
}

function replyIn(answered: ProviderAnswer): JsonObject {
  const members = membersIn(answered);
  const { status_code: code = 0, status_msg: message } = memberOf(members, 'base_resp');
  if (code !== 0) throw refusalIn(STATUSES[String(code)] ?? 500, answered, message);
  return members;
}

/** A failed task may be reported as an error of the poll. */
function verdictIn(answered: ProviderAnswer): TaskProgress | undefined {
  const members = membersIn(answered);
  const { status_code: code, status_msg: message } = memberOf(members, 'base_resp');
  if (JUDGED.has(code)) return { state: 'failed', error: failure('content_policy', message) };
  const failed = stateOf(WORDS, members.status) === 'failed';
  return failed ? { state: 'failed', error: failure(undefined, members.error_message ?? message) } : undefined;
}

function seenIn({ task, status, file_id: file }: JsonObject): TaskProgress {
  if (isObject(task)) return secondSeen(task);
  const state = stateOf(WORDS, status);
  // The next poll asks for the file's URL.
  if (state === 'completed') return { state: 'in_progress', handle: { file: requiredId(file) } };
  return { state };
}

function secondSeen(task: JsonObject): TaskProgress {
  const state = stateOf(WORDS, task.status);
  const { url } = memberOf(task, 'content');
  const { total_seconds: seconds } = memberOf(task, 'usage');
  const { code, message } = memberOf(task, 'error');
  return {
    state,
    ...(state === 'completed' && { found: typeof url === 'string' ? [{ url }] : [] }),
    ...(state === 'completed' && typeof seconds === 'number' && seconds > 0 && { billed: { seconds } }),
    ...(state === 'failed' && { error: failure(code, message) }),
  };
}

function fileIn(members: JsonObject): TaskProgress {
  const { download_url: url } = memberOf(members, 'file');
  return { state: 'completed', found: typeof url === 'string' ? [{ url }] : [] };
}
