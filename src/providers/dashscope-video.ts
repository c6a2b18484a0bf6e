/** Alibaba Cloud's videos (Wan): asynchronous tasks beside the compatible mode. */
import { GatewayError } from '../canonical/errors.ts';
import type { JsonObject } from '../canonical/json.ts';
import type { Progress } from '../canonical/task.ts';
import { joinUrl } from './openai-compatible.ts';
import type { VideoAdapter } from './video.ts';
import {
  addressOf,
  asking,
  dropped,
  failure,
  memberOf,
  membersIn,
  pictureOf,
  posting,
  requiredText,
  said,
  stateOf,
  wordsFor,
} from './video-vendor.ts';

const WORDS = wordsFor({
  queued: ['PENDING', 'SUSPENDED'],
  in_progress: ['RUNNING'],
  completed: ['SUCCEEDED'],
  failed: ['FAILED', 'CANCELED'],
});
const COMPATIBLE = /\/compatible-mode\/v1\/?$/;
const placeOf = (baseUrl: string, path: string) => joinUrl(baseUrl.replace(COMPATIBLE, '/api/v1'), path);

export const dashscopeVideo: VideoAdapter = {
  defaultSeconds: 5,
  start(ask, { baseUrl, model }) {
    const first = pictureOf(ask, 'first');
    const last = pictureOf(ask, 'last');
    const { width, height } = ask;
    const frames =
      first &&
      (last ? { first_frame_url: addressOf(first), last_frame_url: addressOf(last) } : { img_url: addressOf(first) });
    const input = said({ prompt: ask.prompt, negative_prompt: ask.negativePrompt, ...frames });
    const parameters = said({
      ...ask.metadata,
      size: !first && width !== undefined && height !== undefined ? `${width}*${height}` : undefined,
      resolution: ask.resolution?.toUpperCase(),
      duration: ask.seconds,
      seed: ask.seed,
    });
    const kind = first && last ? 'image2video' : 'video-generation';
    const url = placeOf(baseUrl, `/services/aigc/${kind}/video-synthesis`);
    const outgoing = posting(url, { model, input, parameters }, { 'x-dashscope-async': 'enable' });
    return { outgoing, warnings: dropped(ask, 'fps', 'n') };
  },
  readStart(answered) {
    const members = membersIn(answered);
    return { handle: requiredText(memberOf(members, 'output').task_id), seen: seenIn(members) };
  },
  poll: (handle, { baseUrl }) => asking(placeOf(baseUrl, `/tasks/${encodeURIComponent(String(handle))}`)),
  readPoll: (answered) => seenIn(membersIn(answered)),
  cancel: (handle, { baseUrl }) =>
    asking(placeOf(baseUrl, `/tasks/${encodeURIComponent(String(handle))}/cancel`), 'POST'),
};

function seenIn(members: JsonObject): Progress {
  const output = memberOf(members, 'output');
  // Its word for a task that it keeps no longer.
  if (output.task_status === 'UNKNOWN') throw new GatewayError('not_found', 'The vendor knows of no such task.');
  const state = stateOf(WORDS, output.task_status);
  const url = output.video_url ?? memberOf(output, 'results').video_url;
  const { video_duration, duration = video_duration } = memberOf(members, 'usage');
  return {
    state,
    ...(state === 'completed' && { found: typeof url === 'string' ? [{ url }] : [] }),
    ...(state === 'completed' && typeof duration === 'number' && { billed: { seconds: duration } }),
    ...(state === 'failed' && { error: failure(output.code, output.message) }),
  };
}
