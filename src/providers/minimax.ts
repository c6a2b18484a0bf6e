/** MiniMax (Hailuo): a finished task names a file, which is asked for by a request of its own. */
import { isObject, type JsonObject } from '../canonical/json.ts';
import type { Progress } from '../canonical/task.ts';
import { joinUrl } from './openai-compatible.ts';
import type { Answered, VideoAdapter } from './video.ts';
import {
  addressOf,
  asking,
  dropped,
  failure,
  memberOf,
  membersIn,
  pictureOf,
  posting,
  refusalIn,
  requiredText,
  resolutionOf,
  said,
  stateOf,
  videoVendor,
  wordsFor,
} from './video-vendor.ts';

const WORDS = wordsFor({
  queued: ['Preparing', 'Queueing'],
  in_progress: ['Processing'],
  completed: ['Success'],
  failed: ['Fail'],
});
/** It says 200 to everything: HTTP's own number for its numbers; those not listed are its failures. */
const STATUSES: { readonly [code: string]: number } = {
  1002: 429,
  1004: 401,
  1008: 402,
  1026: 400,
  1027: 400,
  2013: 400,
  2049: 401,
};

const video: VideoAdapter = {
  defaultSeconds: 6,
  start(ask, { baseUrl, model }) {
    const first = pictureOf(ask, 'first');
    const last = pictureOf(ask, 'last');
    const members = said({
      ...ask.metadata,
      model,
      prompt: ask.prompt,
      duration: ask.seconds,
      resolution: resolutionOf(ask)?.toUpperCase(),
      first_frame_image: first && addressOf(first),
      last_frame_image: last && addressOf(last),
    });
    return {
      outgoing: posting(joinUrl(baseUrl, '/video_generation'), members),
      warnings: dropped(ask, 'negativePrompt', 'fps', 'seed', 'n'),
    };
  },
  readStart: (answered) => ({ handle: requiredText(replyIn(answered).task_id), seen: { state: 'queued' } }),
  poll(handle, { baseUrl }) {
    const path = isObject(handle)
      ? `/files/retrieve?file_id=${encodeURIComponent(String(handle.file))}`
      : `/query/video_generation?task_id=${encodeURIComponent(String(handle))}`;
    return asking(joinUrl(baseUrl, path));
  },
  readPoll: (answered, handle) => (isObject(handle) ? fileIn(replyIn(answered)) : seenIn(replyIn(answered))),
};

export const minimax = videoVendor({
  name: 'minimax',
  baseUrl: 'https://api.minimax.io/v1',
  credentialVariable: 'MINIMAX_API_KEY',
  video,
});

function replyIn(answered: Answered): JsonObject {
  const members = membersIn(answered);
  const { status_code: code = 0, status_msg: message } = memberOf(members, 'base_resp');
  if (code !== 0) throw refusalIn(STATUSES[String(code)] ?? 500, answered, message);
  return members;
}

function seenIn({ status, file_id: file, error_message: message }: JsonObject): Progress {
  const state = stateOf(WORDS, status);
  if (state === 'failed') return { state, error: failure(undefined, message) };
  // Where its file is, is the next question.
  if (state === 'completed') return { state: 'in_progress', handle: { file: requiredText(file) } };
  return { state };
}

function fileIn(members: JsonObject): Progress {
  const { download_url: url } = memberOf(members, 'file');
  return { state: 'completed', found: typeof url === 'string' ? [{ url }] : [] };
}
