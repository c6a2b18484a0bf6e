/** Volcengine Ark's videos (Seedance), billed by tokens. Source: Volcengine's video generation reference. */
import type { JsonObject } from '../../canonical/json.ts';
import type { TaskImage, TaskProgress } from '../../canonical/task.ts';
import { joinUrl } from '../chat/openai-compatible.ts';
import type { Target } from '../outgoing.ts';
import { imageAddress, ratioOf, resolutionOf } from './images-and-sizes.ts';
import { defined, jsonRequest, memberOf, membersIn, plainRequest, requiredId } from './json-requests.ts';
import { dropped } from './losses.ts';
import { failure, stateOf, statesFrom } from './task-states.ts';
import type { VideoAdapter } from './video.ts';

const WORDS = statesFrom({
  queued: ['queued'],
  in_progress: ['running'],
  completed: ['succeeded'],
  failed: ['failed', 'cancelled', 'expired'],
});
const TASKS = '/contents/generations/tasks';
const ROLES: { readonly [role in TaskImage['role']]: string } = {
  first: 'first_frame',
  last: 'last_frame',
  reference: 'reference_image',
};
const taskAt = (handle: unknown, { baseUrl }: Target) =>
  joinUrl(baseUrl, `${TASKS}/${encodeURIComponent(String(handle))}`);

/** Seedance reads settings in its prompt: `--dur 10 --rs 1080p`. */
const SPOKEN = /\s*--(?:dur|duration|rs|resolution|frames|fps|framespersecond)(?:\s+|=)\S+/gi;

export const volcengineVideo: VideoAdapter = {
  defaultSeconds: 5,
  start(ask, { baseUrl, model }) {
    const prompt = ask.prompt?.replace(SPOKEN, '');
    const text = prompt === undefined ? [] : [{ type: 'text', text: prompt }];
    const images = ask.images.map((image) => ({
      type: 'image_url',
      image_url: { url: imageAddress(image) },
      role: ROLES[image.role],
    }));
    const members = defined({
      ...ask.metadata,
      model,
      content: [...text, ...images],
      ratio: ratioOf(ask),
      resolution: resolutionOf(ask),
      duration: ask.seconds,
      seed: ask.seed,
    });
    return {
      outgoing: jsonRequest(joinUrl(baseUrl, TASKS), members),
      warnings: [
        ...dropped(ask, 'negativePrompt', 'fps', 'n'),
        ...(prompt === ask.prompt
          ? []
          : ['What the prompt says of length and size was dropped: members of their own say it.']),
      ],
    };
  },
  readStart: (answered) => ({ handle: requiredId(membersIn(answered).id), seen: { state: 'queued' } }),
  poll: (handle, target) => plainRequest(taskAt(handle, target)),
  readPoll: (answered) => seenIn(membersIn(answered)),
  cancel: (handle, target) => plainRequest(taskAt(handle, target), 'DELETE'),
};

function seenIn(task: JsonObject): TaskProgress {
  const state = stateOf(WORDS, task.status);
  const { video_url: url } = memberOf(task, 'content');
  const { completion_tokens: outputTokens } = memberOf(task, 'usage');
  const error = memberOf(task, 'error');
  return {
    state,
    ...(state === 'completed' && { found: typeof url === 'string' ? [{ url }] : [] }),
    ...(state === 'completed' && typeof outputTokens === 'number' && { billed: { outputTokens } }),
    ...(state === 'failed' && { error: failure(error.code, error.message) }),
  };
}
