/** OpenAI's videos (Sora) and those of servers that took over its format: `/videos`, a form where a picture goes along. */
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';
import type { Progress, VideoAsk } from '../canonical/task.ts';
import { readOpenaiError } from '../dialects/openai-errors.ts';
import { joinUrl } from './openai-compatible.ts';
import { type Answered, type Started, type Starting, unreadable, type VideoAdapter } from './video.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

export const openaiVideo: VideoAdapter = {
  defaultSeconds: 4,
  start(ask, target, id) {
    const { warnings, members } = membersOf(ask, target.model);
    const url = joinUrl(target.baseUrl, '/videos');
    const first = ask.pictures.find(({ role }) => role !== 'last');
    if (first?.source.type !== 'inline') {
      if (first) members.input_reference = { image_url: first.source.url };
      return { outgoing: { method: 'POST', url, headers: { ...JSON_TYPE }, body: encoded(members) }, warnings };
    }
    const boundary = `modelport-${id}`;
    const { base64, mimeType = 'image/png' } = first.source;
    const body = formOf(boundary, members, { bytes: Buffer.from(base64, 'base64'), mimeType });
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    return { outgoing: { method: 'POST', url, headers, body }, warnings };
  },
  readStart(answered) {
    const video = videoIn(answered);
    if (typeof video.id !== 'string' || video.id === '') throw unreadable();
    return { handle: video.id, seen: seenIn(video, '') } satisfies Started;
  },
  poll: (handle, { baseUrl }) => ({
    method: 'GET',
    url: joinUrl(baseUrl, `/videos/${encodeURIComponent(String(handle))}`),
    // Where its file is: known to whoever reads the answer.
    headers: {},
    body: undefined,
  }),
  readPoll: (answered, handle) => seenIn(videoIn(answered), String(handle)),
  remix: (handle, ask, { baseUrl }): Starting => ({
    outgoing: {
      method: 'POST',
      url: joinUrl(baseUrl, `/videos/${encodeURIComponent(String(handle))}/remix`),
      headers: { ...JSON_TYPE },
      body: encoded({ prompt: ask.prompt ?? '' }),
    },
    warnings: [],
  }),
};

/** What this format has no word for goes along in the vendor's own words or is told. */
function membersOf(ask: VideoAsk, model: string): { members: JsonObject; warnings: string[] } {
  const { prompt, seconds, width, height } = ask;
  const members: JsonObject = { ...ask.metadata, model };
  if (prompt !== undefined) members.prompt = prompt;
  if (seconds !== undefined) members.seconds = String(seconds);
  if (width !== undefined && height !== undefined) members.size = `${width}x${height}`;
  const unsaid = [
    ['negative_prompt', ask.negativePrompt],
    ['fps', ask.fps],
    ['seed', ask.seed],
    ['n', ask.n === 1 ? undefined : ask.n],
    ['image_tail', ask.pictures.find(({ role }) => role === 'last')],
    ['aspect_ratio', width === undefined ? ask.aspectRatio : undefined],
  ] as const;
  const warnings = unsaid.flatMap(([name, value]) =>
    value === undefined ? [] : [`\`${name}\` was dropped: the model's vendor does not take it.`],
  );
  return { members, warnings };
}

function formOf(boundary: string, members: JsonObject, file: { bytes: Uint8Array; mimeType: string }): Uint8Array {
  const parts: Uint8Array[] = Object.entries(members).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"\r\n\r\n${text}\r\n`);
  });
  const ending = file.mimeType.split('/')[1] ?? 'png';
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="input_reference"; filename="picture.${ending}"\r\ncontent-type: ${file.mimeType}\r\n\r\n`;
  return Buffer.concat([...parts, Buffer.from(head), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

/** A name stands in quotes on a line of its own. */
function quoted(name: string): string {
  return name.replace(/["\r\n]/g, '_');
}

function videoIn({ status, headers, body }: Answered): JsonObject {
  if (status >= 300) throw readOpenaiError(status, headers, body);
  try {
    const video: unknown = JSON.parse(new TextDecoder().decode(body));
    if (isObject(video)) return video;
  } catch {
    // Told below.
  }
  throw unreadable();
}

const STATES: { readonly [word: string]: Progress['state'] } = {
  queued: 'queued',
  pending: 'queued',
  in_progress: 'in_progress',
  processing: 'in_progress',
  completed: 'completed',
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'failed',
  canceled: 'failed',
};

/** A word nobody has heard before means that the vendor still works. */
function seenIn(video: JsonObject, handle: string): Progress {
  const state = STATES[String(video.status)] ?? 'in_progress';
  const url = [video.url, video.video_url].find((one) => typeof one === 'string');
  return {
    state,
    ...(typeof video.progress === 'number' && { percent: video.progress }),
    ...(state === 'failed' && { error: errorIn(video.error) }),
    ...(state === 'completed' && {
      found: [typeof url === 'string' ? { url } : { path: `/videos/${encodeURIComponent(handle)}/content` }],
    }),
  };
}

function errorIn(error: Json | undefined): { code: string; message: string } {
  const { code, message } = isObject(error) ? error : {};
  return {
    code: typeof code === 'string' ? code : 'generation_failed',
    message: typeof message === 'string' ? message : 'The model could not make the video.',
  };
}

function encoded(members: JsonObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(members));
}
