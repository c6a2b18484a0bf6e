/**
 * The request schemas of the video formats. Form texts are converted to numbers where the schema has a number. Unknown
 * members are sent to the provider unchanged.
 */
import { type TProperties, Type } from 'typebox';
import { anything, type Notes, number, object, oneOf, text, whole } from '../shared/request-shape.ts';
import { RANGES } from './ranges.ts';

const { seconds, side, fps, seed, n, frames } = RANGES;
const IMAGE = 'An address, a data URL or base64; in a form, a file.';
const model = (notes: Notes = {}) =>
  text({ $about: 'The name of a model; absent: the one that the installation has for videos.', ...notes });
const length = (notes?: Notes) => number(seconds.least, seconds.most, notes);
const seeds = () => whole(seed.least, seed.most);
const webhook = () => text({ $about: 'Where the task is reported once it has ended.' });

const VIDEO = {
  model: model(),
  prompt: text(),
  negative_prompt: text(),
  seconds: length({ $about: 'How long the video is.' }),
  duration: length({ $about: 'The same as `seconds`.' }),
  size: text({ $about: '`1280x720`.' }),
  width: whole(side.least, side.most),
  height: whole(side.least, side.most),
  aspect_ratio: text({ $about: '`16:9`.' }),
  resolution: text({ $about: '`720p`.' }),
  fps: number(fps.least, fps.most),
  seed: seeds(),
  n: whole(n.least, n.most, { default: 1, $about: 'How many videos are made.' }),
  input_reference: anything({ $about: `The image that the video begins with. ${IMAGE}` }),
  image: anything({ $about: 'The same as `input_reference`.' }),
  image_tail: anything({ $about: `The image that the video ends with. ${IMAGE}` }),
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
    prompt: Type.String({ $about: 'What is to be different.' }),
    model: model({ $about: 'That of the first video.' }),
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
  duration: length({ $about: 'How many seconds the video has.' }),
  aspect_ratio: text({ $about: '`16:9`.' }),
  seed: seeds(),
  image: anything({ $about: `The image that the video begins with. ${IMAGE}` }),
  image_tail: anything({ $about: `The image that the video ends with. ${IMAGE}` }),
  callback_url: webhook(),
} satisfies TProperties;

export const KlingRequest = Type.Object(KLING, { $name: 'KlingVideoRequest' });

/** For the API documentation: the path says that the video begins with an image. */
export const klingImageBody = () =>
  Type.Object(
    { ...KLING, image: Type.Unknown({ $about: `The image that the video begins with. ${IMAGE}` }) },
    { $name: 'KlingImageToVideoRequest' },
  );

const images = ($about: string) => Type.Optional(Type.Unknown({ $inside: () => Type.Array(Type.String()), $about }));

export const JimengRequest = Type.Object(
  {
    req_key: model({ $about: 'The name of a model.' }),
    prompt: text(),
    frames: whole(frames.least, frames.most, {
      $about: 'How many frames the video has, 24 for a second and one more.',
    }),
    aspect_ratio: text({ $about: '`16:9`.' }),
    seed: seeds(),
    binary_data_base64: images('Images in base64: the first frame, and the last one.'),
    image_urls: images('The same by their addresses.'),
    callback_url: webhook(),
  },
  { $name: 'JimengVideoRequest' },
);

/** The request that polls a task. For the API documentation. */
export const jimengQueryBody = () =>
  Type.Object({ req_key: text(), task_id: Type.String() }, { $name: 'JimengTaskRequest' });
