/**
 * The request schemas of the video formats. Form texts are converted to numbers where the schema has a number. Unknown
 * members are sent to the provider unchanged.
 */
import { type TProperties, Type } from 'typebox';
import { anything, type Notes, number, object, oneOf, text, whole } from '../shared/request-shape.ts';

/** Limits for all video formats, far above what any provider generates. They keep the price a finite number. */
export const VIDEO_RANGES = {
  seconds: { least: 0.1, most: 3600 },
  side: { least: 16, most: 16_384 },
  fps: { least: 1, most: 240 },
  seed: { least: -1, most: 2 ** 53 - 1 },
  n: { least: 1, most: 10 },
  frames: { least: 2, most: 100_000 },
} as const;

const { seconds, side, fps, seed, n, frames } = VIDEO_RANGES;
const IMAGE = 'An address, a data URL or base64; in a form, a file.';
const model = (notes: Notes = {}) =>
  text({ $about: 'The name of a model; absent: the one that the installation has for videos.', ...notes });
const length = (notes?: Notes) => number(seconds.least, seconds.most, notes);
const seeds = () => whole(seed.least, seed.most);
const webhook = () => text({ $about: 'The URL that gets a webhook when the task has ended.' });

const VIDEO = {
  model: model(),
  prompt: text(),
  negative_prompt: text(),
  seconds: length({ $about: 'The length in seconds.' }),
  duration: length({ $about: 'The same as `seconds`.' }),
  size: text({ $about: '`1280x720`.' }),
  width: whole(side.least, side.most),
  height: whole(side.least, side.most),
  aspect_ratio: text({ $about: '`16:9`.' }),
  resolution: text({ $about: '`720p`.' }),
  fps: number(fps.least, fps.most),
  seed: seeds(),
  n: whole(n.least, n.most, { default: 1, $about: 'The number of videos.' }),
  input_reference: anything({ $about: `The image of the first frame. ${IMAGE}` }),
  image: anything({ $about: 'The same as `input_reference`.' }),
  image_tail: anything({ $about: `The image of the last frame. ${IMAGE}` }),
  last_frame: anything({ $about: 'The same as `image_tail`.' }),
  metadata: object({ $about: 'Settings of the provider.' }),
  user: text(),
  webhook_url: webhook(),
  callback_url: webhook(),
  response_format: oneOf(['url']),
} satisfies TProperties;

export const VideoRequest = Type.Object(VIDEO, { $name: 'VideoRequest' });

/** A remix has a prompt only. */
export const RemixRequest = Type.Object(
  {
    prompt: Type.String({ $about: 'What to change.' }),
    model: model({ $about: 'The model of the first video.' }),
    user: text(),
    webhook_url: webhook(),
    callback_url: webhook(),
  },
  { $name: 'VideoRemixRequest' },
);

const KLING = {
  model_name: model(),
  model: model({ $about: 'The same as `model_name`.' }),
  prompt: text(),
  negative_prompt: text(),
  duration: length({ $about: 'The length in seconds.' }),
  aspect_ratio: text({ $about: '`16:9`.' }),
  seed: seeds(),
  image: anything({ $about: `The image of the first frame. ${IMAGE}` }),
  image_tail: anything({ $about: `The image of the last frame. ${IMAGE}` }),
  callback_url: webhook(),
} satisfies TProperties;

export const KlingRequest = Type.Object(KLING, { $name: 'KlingVideoRequest' });

/** For the API documentation: the path says that the video begins with an image. */
export const klingImageBody = () =>
  Type.Object(
    { ...KLING, image: Type.Unknown({ $about: `The image of the first frame. ${IMAGE}` }) },
    { $name: 'KlingImageToVideoRequest' },
  );

const images = ($about: string) => Type.Optional(Type.Unknown({ $inside: () => Type.Array(Type.String()), $about }));

export const JimengRequest = Type.Object(
  {
    req_key: model({ $about: 'The name of a model.' }),
    prompt: text(),
    frames: whole(frames.least, frames.most, {
      $about: 'The number of frames: 24 per second, plus one.',
    }),
    aspect_ratio: text({ $about: '`16:9`.' }),
    seed: seeds(),
    binary_data_base64: images('Images in base64: the first frame, and the last one.'),
    image_urls: images('The same images by URL.'),
    callback_url: webhook(),
  },
  { $name: 'JimengVideoRequest' },
);

/** The request that polls a task. For the API documentation. */
export const jimengQueryBody = () =>
  Type.Object({ req_key: text(), task_id: Type.String() }, { $name: 'JimengTaskRequest' });
