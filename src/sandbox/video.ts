/** The sandbox's videos in OpenAI's format. Nothing is stored: a task's id contains everything, so a restart loses none. */
import { GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import { isObject, type JsonObject } from '../canonical/json.ts';
import { openaiError } from '../dialects/shared/error-bodies.ts';
import { nearestClip } from './clips.ts';
import { type Directives, readDirectives } from './directives.ts';

export const VIDEO_MODEL = 'sandbox-video';

const PLACE = /^\/v1\/videos(?:\/([^/]+)(\/content|\/remix)?)?$/;
const SIZE = /^(\d{2,4})x(\d{2,4})$/;
const DEFAULT = { seconds: 4, width: 1280, height: 720 };
/** How long a video seems to take. */
const MAKING_MS = 3000;
const LONGEST_PROMPT = 300;

/** The content of an id. */
interface Job {
  /** Milliseconds since 1970. */
  at: number;
  /** Distinguishes two videos of the same time and prompt. */
  key: string;
  prompt: string;
  width: number;
  height: number;
  seconds: number;
}

export function isVideoPath(pathname: string): boolean {
  return PLACE.test(pathname);
}

/** `now`: milliseconds since 1970. */
export async function answerVideo(request: Request, now: number): Promise<Response> {
  const [, id, action] = PLACE.exec(new URL(request.url).pathname) ?? [];
  try {
    if (id === undefined) return Response.json(begun(await membersOf(request), now));
    const job = jobOf(id);
    if (request.method === 'DELETE') return Response.json({ id, object: 'video.deleted', deleted: true });
    if (action === undefined) return Response.json(videoOf(id, job, now));
    if (action === '/remix') return Response.json(begun({ ...sizesOf(job), ...(await membersOf(request)) }, now));
    return contentOf(job, now);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    const { body, ...reply } = openaiError(thrown, 'sandbox');
    return new Response(body, reply);
  }
}

function begun(members: JsonObject, now: number): JsonObject {
  const { model, prompt, size, seconds } = members;
  if (model !== VIDEO_MODEL)
    throw new GatewayError('model_not_found', `The model \`${model}\` does not exist.`, { param: 'model' });
  if (prompt !== undefined && typeof prompt !== 'string')
    throw new GatewayError('invalid_request', '`prompt` must be a text.', { param: 'prompt' });
  const shortened = (prompt ?? '').slice(0, LONGEST_PROMPT);
  const { failStatus } = readDirectives(shortened);
  if (failStatus !== undefined) {
    throw new GatewayError('invalid_request', `The sandbox failed with ${failStatus}, as the prompt asked.`, {
      status: failStatus,
    });
  }
  const [, width, height] = SIZE.exec(typeof size === 'string' ? size : '') ?? [];
  const length = Number(seconds ?? DEFAULT.seconds);
  if (!(length > 0 && length <= 60))
    throw new GatewayError('invalid_request', '`seconds` must be from 0 to 60.', { param: 'seconds' });
  const job: Job = {
    at: now,
    key: newId('', 12),
    prompt: shortened,
    width: Number(width ?? DEFAULT.width),
    height: Number(height ?? DEFAULT.height),
    seconds: length,
  };
  const id = `video_${Buffer.from(JSON.stringify(job)).toString('base64url')}`;
  return videoOf(id, job, now);
}

/** What a remix takes from the original. */
function sizesOf({ width, height, seconds }: Job): JsonObject {
  return { model: VIDEO_MODEL, size: `${width}x${height}`, seconds };
}

function videoOf(id: string, job: Job, now: number): JsonObject {
  const directives = readDirectives(job.prompt);
  const part = (now - job.at) / makingMs(directives);
  const status = part >= 1 ? (directives.refuse ? 'failed' : 'completed') : part > 0.1 ? 'in_progress' : 'queued';
  return {
    id,
    object: 'video',
    model: VIDEO_MODEL,
    status,
    progress: Math.min(100, Math.floor(part * 100)),
    created_at: Math.floor(job.at / 1000),
    seconds: String(job.seconds),
    size: `${job.width}x${job.height}`,
    error:
      status === 'failed'
        ? { code: 'sandbox_refused', message: 'The sandbox refused the video, as the prompt asked.' }
        : null,
  };
}

function contentOf(job: Job, now: number): Response {
  const directives = readDirectives(job.prompt);
  if (now - job.at < makingMs(directives)) throw new GatewayError('not_found', 'The video is not finished yet.');
  const video = Buffer.from(nearestClip(job).base64, 'base64');
  return new Response(video, { headers: { 'content-type': 'video/mp4' } });
}

function makingMs({ delayMs }: Directives): number {
  return delayMs ?? MAKING_MS;
}

function jobOf(id: string): Job {
  try {
    const job: unknown = JSON.parse(Buffer.from(id.replace(/^video_/, ''), 'base64url').toString());
    if (isObject(job) && typeof job.at === 'number') return job as unknown as Job;
  } catch {
    // Sent below.
  }
  throw new GatewayError('not_found', `There is no video \`${id}\`.`);
}

async function membersOf(request: Request): Promise<JsonObject> {
  if (request.method !== 'POST') throw new GatewayError('method_not_allowed', 'The sandbox takes POST here.');
  if (!/^multipart/.test(request.headers.get('content-type') ?? '')) return (await request.json()) as JsonObject;
  const form = await request.formData();
  return Object.fromEntries(
    [...form.entries()].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
