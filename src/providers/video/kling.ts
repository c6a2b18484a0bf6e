/**
 * Kling. The credential is `accessKey:secretKey`, which signs a token, or an API key. Source: Kling's API
 * documentation, text, image and multi-image to video.
 */
import { SignJWT } from 'jose';
import type { Json, JsonObject } from '../../canonical/json.ts';
import { isObject } from '../../canonical/json.ts';
import type { TaskImage, TaskProgress } from '../../canonical/task.ts';
import { authorizeByBearer, joinUrl } from '../chat/openai-compatible.ts';
import type { Outgoing, Target } from '../outgoing.ts';
import { imageOf, ratioOf } from './images-and-sizes.ts';
import { defined, jsonRequest, memberOf, membersIn, plainRequest, refusalIn, requiredId } from './json-requests.ts';
import { dropped, shapeLosses } from './losses.ts';
import { failure, stateOf, statesFrom } from './task-states.ts';
import type { ProviderAnswer, VideoAdapter } from './video.ts';
import { videoProvider } from './video-provider.ts';

const WORDS = statesFrom({
  queued: ['submitted'],
  in_progress: ['processing'],
  completed: ['succeed'],
  failed: ['failed'],
});
const TOKEN_SECONDS = 1800;
const CLOCK_SECONDS = 5;
/** The error code of an unknown task. */
const NO_SUCH_TASK = 1203;
/** Error codes of an account without balance, which Kling sends with status 429. */
const UNPAID: ReadonlySet<Json | undefined> = new Set([1101, 1102]);

const video: VideoAdapter = {
  words: 'vendor-a',
  defaultSeconds: 5,
  ignoresResolution: true,
  qualityOf,
  start(ask, target, id) {
    const first = imageOf(ask, 'first');
    const last = imageOf(ask, 'last');
    const kind = kindFor(ask.images);
    const references = ask.images.filter(({ role }) => role === 'reference');
    const framed = first !== undefined || last !== undefined;
    const { external_task_id: own, ...metadata } = ask.metadata;
    const members = defined({
      ...metadata,
      model_name: target.model,
      prompt: ask.prompt,
      negative_prompt: ask.negativePrompt,
      duration: String(ask.seconds ?? 5),
      aspect_ratio: framed ? undefined : ratioOf(ask),
      image: first && bare(first),
      image_tail: last && bare(last),
      image_list: framed || references.length === 0 ? undefined : references.map((one) => ({ image: bare(one) })),
      external_task_id: id,
    });
    return {
      outgoing: jsonRequest(placeOf(target, kind), members),
      warnings: [
        ...dropped(ask, 'fps', 'seed', 'resolution', 'n', ...shapeLosses(framed)),
        ...dropped(ask, ...(framed ? (['reference'] as const) : [])),
        ...(own === undefined
          ? []
          : ["`external_task_id` was dropped: the provider knows tasks by the gateway's own ids."]),
      ],
    };
  },
  readStart: (answered, ask) => startedIn(answered, kindFor(ask.images)),
  find: {
    ask: (id, target, { images }) => plainRequest(`${placeOf(target, kindFor(images))}/${encodeURIComponent(id)}`),
    read(answered, { images }) {
      if (answered.status === 404 || membersIn({ ...answered, status: 200 }).code === NO_SUCH_TASK) return undefined;
      return startedIn(answered, kindFor(images));
    },
  },
  poll: (handle, target) => plainRequest(joinUrl(target.baseUrl, `/v1/videos/${String(handle)}`)),
  readPoll: (answered) => seenIn(taskIn(answered)),
};

export const kling = videoProvider({
  name: 'kling',
  baseUrl: 'https://api-singapore.klingai.com',
  credentialVariable: 'KLING_API_KEY',
  video,
  authorize(outgoing, target, { now }) {
    const [issuer = '', secret] = target.credential?.split(':') ?? [];
    if (secret === undefined) return authorizeByBearer(outgoing, target);
    return sign(outgoing, issuer, secret, Math.floor(now() / 1000));
  },
});

async function sign(outgoing: Outgoing, issuer: string, secret: string, seconds: number): Promise<void> {
  const token = await new SignJWT({})
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(issuer)
    .setExpirationTime(seconds + TOKEN_SECONDS)
    .setNotBefore(seconds - CLOCK_SECONDS)
    .sign(new TextEncoder().encode(secret));
  outgoing.headers.authorization = `Bearer ${token}`;
}

function kindFor(images: readonly TaskImage[]): string {
  if (images.length === 0) return 'text2video';
  return images.every(({ role }) => role === 'reference') ? 'multi-image2video' : 'image2video';
}

function placeOf({ baseUrl }: Target, kind: string): string {
  return joinUrl(baseUrl, `/v1/videos/${kind}`);
}

/**
 * `mode` is `std` or a more expensive one. Sound costs more, custom voices still more. Source:
 * https://app.klingai.com/global/dev/document-api/productBilling/prePaidResourcePackage.
 */
function qualityOf({ mode, sound, voice_list: voices }: JsonObject): string {
  const words = [mode === undefined || mode === null ? 'std' : String(mode).toLowerCase()];
  if (sound !== undefined && sound !== null && sound !== 'off' && sound !== false) words.push('sound');
  if (Array.isArray(voices) ? voices.length > 0 : voices !== undefined && voices !== null) words.push('voice');
  return words.join('+');
}

/** Base64 without the prefix of a data URL. */
function bare({ source }: TaskImage): string {
  return source.type === 'url' ? source.url : source.base64;
}

function taskIn(answered: ProviderAnswer): JsonObject {
  if (answered.status === 429 && UNPAID.has(membersIn({ ...answered, status: 200 }).code)) {
    throw refusalIn(402, answered, undefined);
  }
  const { code, message, data } = membersIn(answered);
  if (code !== 0) throw refusalIn(400, answered, message);
  return isObject(data) ? data : {};
}

/** The kind of a task is part of its URL: the handle is the end of the URL. */
function startedIn(answered: ProviderAnswer, kind: string): { handle: Json; seen: TaskProgress } {
  const task = taskIn(answered);
  return { handle: `${kind}/${requiredId(task.task_id)}`, seen: seenIn(task) };
}

function seenIn(task: JsonObject): TaskProgress {
  const state = stateOf(WORDS, task.task_status);
  const { videos } = memberOf(task, 'task_result');
  // The reported duration is that of the file (5.1 for 5). The requested one is billed.
  const found = (Array.isArray(videos) ? videos : []).flatMap((one) =>
    isObject(one) && typeof one.url === 'string' ? [{ url: one.url }] : [],
  );
  return {
    state,
    ...(state === 'completed' && { found }),
    ...(state === 'failed' && { error: failure(undefined, task.task_status_msg) }),
  };
}
