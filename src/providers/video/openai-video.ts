/**
 * OpenAI's videos (Sora) and compatible servers: `/videos`, with a form if there is an image. Source: OpenAI API
 * reference, Videos.
 */
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { TaskProgress, VideoCall } from '../../canonical/task.ts';
import { joinUrl } from '../chat/openai-compatible.ts';
import type { Target } from '../outgoing.ts';
import { imageAddress, imageOf } from './images-and-sizes.ts';
import { jsonRequest, membersIn, plainRequest } from './json-requests.ts';
import { dropped } from './losses.ts';
import { failure, stateOf, statesFrom } from './task-states.ts';
import { type StartRequest, unreadableAnswer, type VideoAdapter } from './video.ts';

/** `addressAt`: returns the URL of a path of this format at a target. */
export function openaiVideoAt(addressAt: (target: Target, path: string) => string): VideoAdapter {
  const videoAt = (handle: Json, target: Target, action = '') =>
    addressAt(target, `/videos/${encodeURIComponent(String(handle))}${action}`);
  return {
    defaultSeconds: 4,
    ignoresResolution: true,
    start: (ask, target, id) => startAt(addressAt(target, '/videos'), ask, target.model, id),
    readStart(answered) {
      const video = membersIn(answered);
      if (typeof video.id !== 'string' || video.id === '') throw unreadableAnswer();
      return { handle: video.id, seen: seenIn(video) };
    },
    poll: (handle, target) => plainRequest(videoAt(handle, target)),
    readPoll: (answered, handle, target) => seenIn(membersIn(answered), videoAt(handle, target, '/content')),
    remix: (handle, { prompt = '' }, target) => ({
      outgoing: jsonRequest(videoAt(handle, target, '/remix'), { prompt }),
      warnings: [],
    }),
  };
}

export const openaiVideo = openaiVideoAt(({ baseUrl }, path) => joinUrl(baseUrl, path));

function startAt(url: string, ask: VideoCall, model: string, id: string): StartRequest {
  const members = membersOf(ask, model);
  const shape = ask.width === undefined ? (['aspectRatio'] as const) : [];
  const warnings = dropped(ask, 'negativePrompt', 'fps', 'seed', 'n', 'resolution', 'last', 'reference', ...shape);
  const first = imageOf(ask, 'first');
  if (first?.source.type !== 'inline') {
    if (first) members.input_reference = { image_url: imageAddress(first) };
    return { outgoing: jsonRequest(url, members), warnings };
  }
  const boundary = `modelport-${id}`;
  const { base64, mimeType = 'image/png' } = first.source;
  const body = formOf(boundary, members, { bytes: Buffer.from(base64, 'base64'), mimeType });
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return { outgoing: { method: 'POST', url, headers, body }, warnings };
}

function membersOf({ metadata, prompt, seconds, width, height }: VideoCall, model: string): JsonObject {
  const members: JsonObject = { ...metadata, model };
  if (prompt !== undefined) members.prompt = prompt;
  if (seconds !== undefined) members.seconds = String(seconds);
  if (width !== undefined && height !== undefined) members.size = `${width}x${height}`;
  return members;
}

function formOf(boundary: string, members: JsonObject, file: { bytes: Uint8Array; mimeType: string }): Uint8Array {
  const parts: Uint8Array[] = Object.entries(members).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"\r\n\r\n${text}\r\n`);
  });
  const ending = file.mimeType.split('/')[1] ?? 'png';
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="input_reference"; filename="image.${ending}"\r\ncontent-type: ${file.mimeType}\r\n\r\n`;
  return Buffer.concat([...parts, Buffer.from(head), file.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

/** A file name for a form header, in quotes on one line. */
function quoted(name: string): string {
  return name.replace(/["\r\n]/g, '_');
}

const WORDS = statesFrom({
  queued: ['queued', 'pending'],
  in_progress: ['in_progress', 'processing'],
  completed: ['completed', 'succeeded'],
  failed: ['failed', 'cancelled', 'canceled'],
});

/** `contentUrl`: the URL of the file, unless the response has one. */
function seenIn(video: JsonObject, contentUrl?: string): TaskProgress {
  const state = stateOf(WORDS, video.status);
  const url = [video.url, video.video_url].find((one) => typeof one === 'string');
  const { code, message } = isObject(video.error) ? video.error : {};
  const seconds = Number(video.seconds);
  const content = contentUrl === undefined ? [] : [{ url: contentUrl, signed: true as const }];
  return {
    state,
    ...(typeof video.progress === 'number' && { percent: video.progress }),
    ...(state === 'failed' && { error: failure(code, message) }),
    ...(state === 'completed' && seconds > 0 && { billed: { seconds } }),
    ...(state === 'completed' && { found: typeof url === 'string' ? [{ url }] : content }),
  };
}
