/**
 * Volcengine's Jimeng: actions in the URL, signed requests. Source: Volcengine's documentation, Jimeng AI, video
 * generation 3.0.
 */
import { GatewayError } from '../../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { TaskImage, TaskProgress } from '../../canonical/task.ts';
import { authorizeByBearer } from '../chat/openai-compatible.ts';
import { signForVolcengine } from '../clouds/volcengine-signature.ts';
import type { Outgoing } from '../outgoing.ts';
import { ratioOf } from './images-and-sizes.ts';
import { defined, jsonRequest, membersIn, refusalIn, requiredId } from './json-requests.ts';
import { dropped, shapeLosses } from './losses.ts';
import { failure, stateOf, statesFrom } from './task-states.ts';
import type { ProviderAnswer, VideoAdapter } from './video.ts';
import { videoProvider } from './video-provider.ts';

const VERSION = '2022-08-31';
const SERVICE = 'cv';
const REGION = 'cn-north-1';
const SUCCESS = 10_000;
const FRAMES_A_SECOND = 24;
const WORDS = statesFrom({
  queued: ['in_queue'],
  in_progress: ['generating', 'processing'],
  completed: ['done'],
  failed: ['expired'],
});
/** The status of an unknown task. Tasks are kept for 12 hours. */
const NO_SUCH_TASK = 'not_found';
/** Error codes of content checks, on the request or on the result. */
const JUDGED: ReadonlySet<Json | undefined> = new Set([
  50_411, 50_412, 50_413, 50_511, 50_512, 50_516, 50_517, 50_518, 50_519, 50_520, 50_521, 50_522,
]);
/** Error codes of rate and concurrency limits. */
const LIMITED: ReadonlySet<Json | undefined> = new Set([50_429, 50_430]);

const video: VideoAdapter = {
  words: 'vendor-b',
  defaultSeconds: 5,
  ignoresResolution: true,
  start(ask, { baseUrl, model }) {
    const framed = ask.images.length > 0;
    const members = defined({
      ...ask.metadata,
      req_key: model,
      prompt: ask.prompt,
      ...imagesOf(ask.images),
      frames: Math.round((ask.seconds ?? 5) * FRAMES_A_SECOND) + 1,
      seed: ask.seed,
      aspect_ratio: framed ? undefined : ratioOf(ask),
    });
    return {
      outgoing: acting(baseUrl, 'CVSync2AsyncSubmitTask', members),
      warnings: dropped(ask, 'negativePrompt', 'fps', 'resolution', 'n', ...shapeLosses(framed)),
    };
  },
  readStart: (answered) => ({ handle: requiredId(dataIn(answered).task_id), seen: { state: 'queued' } }),
  poll: (handle, { baseUrl, model }) =>
    acting(baseUrl, 'CVSync2AsyncGetResult', { req_key: model, task_id: String(handle) }),
  readPoll: (answered) => verdictIn(answered) ?? seenIn(dataIn(answered)),
};

export const jimeng = videoProvider({
  name: 'jimeng',
  baseUrl: 'https://visual.volcengineapi.com',
  credentialVariable: 'JIMENG_API_KEY',
  credentialVariables: ['VOLC_ACCESSKEY', 'VOLC_SECRETKEY'],
  video,
  authorize(outgoing, target, { now }) {
    const [accessKeyId = '', secretAccessKey, sessionToken] = target.credential?.split(':') ?? [];
    // Gateways with this format accept a bearer key.
    if (secretAccessKey === undefined) return authorizeByBearer(outgoing, target);
    const keys = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
    signForVolcengine(outgoing, keys, { region: target.settings.region ?? REGION, service: SERVICE }, now());
  },
});

function acting(baseUrl: string, action: string, members: JsonObject): Outgoing {
  return jsonRequest(`${baseUrl.replace(/\/$/, '')}/?Action=${action}&Version=${VERSION}`, members);
}

/** Images inline or as URLs. */
function imagesOf(images: readonly TaskImage[]): JsonObject {
  const inline = images.flatMap(({ source }) => (source.type === 'inline' ? [source.base64] : []));
  const addresses = images.flatMap(({ source }) => (source.type === 'url' ? [source.url] : []));
  if (inline.length > 0 && addresses.length > 0) {
    const sentence = 'The provider takes images either by address or as data: send all of them in one way.';
    throw new GatewayError('invalid_request', sentence, { param: 'image' });
  }
  if (inline.length > 0) return { binary_data_base64: inline };
  return addresses.length > 0 ? { image_urls: addresses } : {};
}

/** Throws the provider's error, also for one in a response with status 200. */
function dataIn(answered: ProviderAnswer): JsonObject {
  const { code, message, data } = membersIn(answered);
  if (code === SUCCESS) return isObject(data) ? data : {};
  throw refusalIn(JUDGED.has(code) ? 400 : LIMITED.has(code) ? 429 : 500, answered, message);
}

/** A failed task is reported as an error of the poll. */
function verdictIn(answered: ProviderAnswer): TaskProgress | undefined {
  const { code, message, data } = membersIn({ ...answered, status: 200 });
  if (JUDGED.has(code)) return { state: 'failed', error: failure('content_policy', message) };
  const ended = code !== SUCCESS && isObject(data) && stateOf(WORDS, data.status) === 'completed';
  return ended ? { state: 'failed', error: failure(undefined, message) } : undefined;
}

function seenIn({ status, video_url: url }: JsonObject): TaskProgress {
  if (status === NO_SUCH_TASK) throw new GatewayError('not_found', 'The provider knows of no such task.');
  const state = stateOf(WORDS, status);
  if (state === 'failed') return { state, error: failure('task_expired', 'The task expired before it was made.') };
  return { state, ...(state === 'completed' && { found: typeof url === 'string' && url !== '' ? [{ url }] : [] }) };
}
