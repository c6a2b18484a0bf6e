/** Jimeng's endpoint, `/vendor-b/?Action=…`: docs/api.md#jimeng. */
import type { JsonObject } from '../../canonical/json.ts';
import type { TaskState, VideoCall } from '../../canonical/task.ts';
import { wrong } from '../shared/request-body.ts';
import { withoutRepeats } from './money.ts';
import { JimengRequest } from './request-schemas.ts';
import {
  defined,
  FieldReader,
  readTaskImage,
  type TaskView,
  type VideoFormat,
  type VideoFormatRequest,
} from './video-format.ts';

export const jimengVideos: VideoFormat = {
  name: 'vendor-b',
  readAsk,
  writeTask,
  writeCreated: ({ id }) => success({ task_id: id }),
};

/** Jimeng's frame rate. A video of n seconds has 24n + 1 frames. */
const FRAMES_A_SECOND = 24;
const SUCCESS = 10_000;
const FAILURE = 50_500;

const WORDS: { readonly [state in TaskState]: string } = {
  queued: 'in_queue',
  in_progress: 'generating',
  completed: 'done',
  failed: 'done',
};

function readAsk({ fields }: VideoFormatRequest): VideoCall {
  const reader = new FieldReader(fields, JimengRequest);
  const inline = reader.take('binary_data_base64') ?? [];
  const addresses = reader.take('image_urls') ?? [];
  if (!Array.isArray(inline)) throw wrong('binary_data_base64', 'must be a list of images in base64');
  if (!Array.isArray(addresses)) throw wrong('image_urls', 'must be a list of addresses');
  const frames = reader.number('frames');
  const known = {
    prompt: reader.text('prompt'),
    seconds: frames === undefined ? undefined : Math.max(1, Math.round((frames - 1) / FRAMES_A_SECOND)),
    aspectRatio: reader.text('aspect_ratio'),
    seed: reader.number('seed'),
    webhook: reader.text('callback_url'),
  };
  const model = reader.text('req_key') ?? '';
  const images = [...inline, ...addresses];
  const ask = {
    model,
    images: images.map((one, place) =>
      readTaskImage(one, 'binary_data_base64', place === 0 ? 'first' : place === 1 ? 'last' : 'reference'),
    ),
    metadata: reader.rest(),
    words: jimengVideos.name,
    ...defined(known),
  };
  return withoutRepeats(ask, undefined);
}

function writeTask({ id, state, urls, error }: TaskView): JsonObject {
  if (error?.code === 'task_expired') return success({ task_id: id, status: 'expired' });
  if (error) return { code: FAILURE, message: error.message, data: null };
  // The files have expired.
  if (state === 'completed' && urls.length === 0) return success({ task_id: id, status: 'expired' });
  return success({
    task_id: id,
    status: WORDS[state],
    ...(urls[0] !== undefined && { video_url: urls[0] }),
    ...(urls.length > 1 && { video_urls: [...urls] }),
  });
}

/** The answer for an id that does not exist, or belongs to another account. */
export const NOT_FOUND = success({ status: 'not_found' });

function success(data: JsonObject): JsonObject {
  return { code: SUCCESS, message: 'Success', data };
}
