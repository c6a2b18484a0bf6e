/** OpenAI's videos, `/v1/videos`: docs/api.md#videos. */
import type { JsonObject } from '../../canonical/json.ts';
import type { VideoCall } from '../../canonical/task.ts';
import { wrong } from '../shared/request-body.ts';
import { withoutRepeats } from './money.ts';
import { RemixRequest, VideoRequest } from './request-schemas.ts';
import {
  defined,
  FieldReader,
  factsOf,
  readSize,
  type TaskView,
  type VideoFormat,
  type VideoFormatRequest,
} from './video-format.ts';

export const openaiVideos: VideoFormat = { name: 'openai-videos', readAsk: readVideoAsk, writeTask };

/** Unknown members become `metadata`. */
export function readVideoAsk({ fields }: VideoFormatRequest): VideoCall {
  const reader = new FieldReader(fields, VideoRequest);
  const size = readSize(reader.text('size'), 'size');
  const images = [
    ...reader.image('first', 'input_reference', 'image'),
    ...reader.image('last', 'image_tail', 'last_frame'),
  ];
  const metadata = reader.object('metadata') ?? {};
  const known = {
    prompt: reader.text('prompt'),
    negativePrompt: reader.text('negative_prompt') ?? textIn(metadata, 'negative_prompt'),
    seconds: reader.number('seconds', 'duration'),
    width: reader.number('width') ?? size?.width,
    height: reader.number('height') ?? size?.height,
    aspectRatio: reader.text('aspect_ratio') ?? textIn(metadata, 'aspect_ratio'),
    resolution: reader.text('resolution') ?? textIn(metadata, 'resolution'),
    fps: reader.number('fps'),
    seed: reader.number('seed'),
    user: reader.text('user'),
    webhook: reader.text('webhook_url', 'callback_url'),
  };
  const model = reader.text('model') ?? '';
  const n = reader.number('n');
  if (reader.text('response_format') === 'b64_json') {
    throw wrong('response_format', 'cannot be b64_json: a video comes as a file, by its address or by `/content`');
  }
  if ((known.width === undefined) !== (known.height === undefined)) {
    throw wrong(known.width === undefined ? 'width' : 'height', 'is missing: a size has both');
  }
  return withoutRepeats({ model, images, metadata: { ...metadata, ...reader.rest() }, ...defined(known) }, n);
}

/** A remix changes the prompt only. Other members are refused. */
export function readRemix(fields: JsonObject, source: Omit<VideoCall, 'images'>): VideoCall {
  const reader = new FieldReader(fields, RemixRequest);
  const prompt = reader.text('prompt');
  if (prompt === undefined) throw wrong('prompt', 'is missing: it says what is to be different');
  const model = reader.text('model') ?? source.model;
  if (model !== source.model) throw wrong('model', `must be that of the first video, \`${source.model}\``);
  const { user: _, webhook: __, ...kept } = source;
  const own = defined({ user: reader.text('user'), webhook: reader.text('webhook_url', 'callback_url') });
  const [other] = Object.keys(reader.rest());
  if (other !== undefined) throw wrong(other, 'cannot be changed: a video made anew takes a prompt alone');
  return { ...kept, ...own, prompt, n: 1, images: [] };
}

function textIn(metadata: JsonObject, member: string): string | undefined {
  const value = metadata[member];
  if (typeof value !== 'string') return undefined;
  delete metadata[member];
  return value;
}

function writeTask({
  id,
  ask,
  state,
  percent,
  createdAt,
  endedAt,
  expiresAt,
  error,
  urls,
  outputs,
}: TaskView): JsonObject {
  const { width, height } = ask;
  return {
    id,
    object: 'video',
    model: ask.model,
    status: state,
    progress: percent,
    created_at: inSeconds(createdAt),
    seconds: String(ask.seconds ?? ''),
    ...(ask.prompt !== undefined && { prompt: ask.prompt }),
    ...(width !== undefined && height !== undefined && { size: `${width}x${height}` }),
    ...(state === 'completed' && endedAt !== undefined && { completed_at: inSeconds(endedAt) }),
    ...(expiresAt !== undefined && { expires_at: inSeconds(expiresAt) }),
    ...(ask.remixOf !== undefined && { remixed_from_video_id: ask.remixOf }),
    ...(error && { error: { message: error.message, code: error.code } }),
    ...(urls.length > 1 && { urls: [...urls] }),
    metadata: { ...ask.metadata, ...otherSettings(ask), ...(state === 'completed' && factsOf(ask, outputs)) },
  };
}

/** Shows settings that were moved out of the metadata under their original names. */
function otherSettings({ negativePrompt, aspectRatio, resolution }: TaskView['ask']): JsonObject {
  return {
    ...(negativePrompt !== undefined && { negative_prompt: negativePrompt }),
    ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
    ...(resolution !== undefined && { resolution }),
  };
}

function inSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
