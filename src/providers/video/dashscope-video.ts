/**
 * Alibaba Cloud's videos (Wan): asynchronous tasks beside the compatible API. Source: Model Studio API reference,
 * text-to-video and image-to-video.
 */
import { GatewayError } from '../../canonical/errors.ts';
import type { JsonObject } from '../../canonical/json.ts';
import type { TaskImage, TaskProgress, VideoCall } from '../../canonical/task.ts';
import { joinUrl } from '../chat/openai-compatible.ts';
import { imageAddress, imageOf, ratioOf, resolutionOf } from './images-and-sizes.ts';
import { defined, jsonRequest, memberOf, membersIn, plainRequest, requiredId } from './json-requests.ts';
import { dropped, type Loss } from './losses.ts';
import { failure, stateOf, statesFrom } from './task-states.ts';
import type { VideoAdapter } from './video.ts';

const WORDS = statesFrom({
  queued: ['PENDING', 'SUSPENDED'],
  in_progress: ['RUNNING'],
  completed: ['SUCCEEDED'],
  failed: ['FAILED', 'CANCELED'],
});
const COMPATIBLE = /\/compatible-mode\/v1\/?$/;
const placeOf = (baseUrl: string, path: string) => joinUrl(baseUrl.replace(COMPATIBLE, '/api/v1'), path);

/** Since Wan 2.7 all images are in one list, and the size is a resolution class with an aspect ratio. */
const NEWER = /^wan(2\.([7-9]|\d\d)|[3-9])/;
/** Of the older models, only these accept a last frame, in a member of its own. */
const FIRST_AND_LAST = /kf2v/;
const MEDIA: { readonly [role in TaskImage['role']]: string } = {
  first: 'first_frame',
  last: 'last_frame',
  reference: 'reference_image',
};

interface OwnRequest {
  kind: string;
  input: JsonObject;
  parameters: JsonObject;
  lost: readonly Loss[];
}

export const dashscopeVideo: VideoAdapter = {
  defaultSeconds: 5,
  start(ask, { baseUrl, model }) {
    const { kind, input, parameters, lost } = NEWER.test(model) ? newer(ask) : older(ask, FIRST_AND_LAST.test(model));
    const members = {
      model,
      input: { ...defined({ prompt: ask.prompt, negative_prompt: ask.negativePrompt }), ...input },
      parameters: { ...ask.metadata, ...parameters, ...defined({ duration: ask.seconds, seed: ask.seed }) },
    };
    const url = placeOf(baseUrl, `/services/aigc/${kind}/video-synthesis`);
    const outgoing = jsonRequest(url, members, { 'x-dashscope-async': 'enable' });
    return { outgoing, warnings: dropped(ask, 'fps', 'n', ...lost) };
  },
  readStart(answered) {
    const members = membersIn(answered);
    return { handle: requiredId(memberOf(members, 'output').task_id), seen: seenIn(members) };
  },
  poll: (handle, { baseUrl }) => plainRequest(placeOf(baseUrl, `/tasks/${encodeURIComponent(String(handle))}`)),
  readPoll: (answered) => seenIn(membersIn(answered)),
  cancel: (handle, { baseUrl }) =>
    plainRequest(placeOf(baseUrl, `/tasks/${encodeURIComponent(String(handle))}/cancel`), 'POST'),
};

function newer(ask: VideoCall): OwnRequest {
  const framed = imageOf(ask, 'first') !== undefined;
  const media = ask.images.map((image) => ({ type: MEDIA[image.role], url: imageAddress(image) }));
  return {
    kind: 'video-generation',
    input: media.length === 0 ? {} : { media },
    parameters: defined({ resolution: classOf(ask), ratio: framed ? undefined : ratioOf(ask) }),
    lost: framed ? ['aspectRatio'] : [],
  };
}

function older(ask: VideoCall, takesLast: boolean): OwnRequest {
  const first = imageOf(ask, 'first');
  const last = imageOf(ask, 'last');
  if (takesLast) {
    const input = defined({
      first_frame_url: first && imageAddress(first),
      last_frame_url: last && imageAddress(last),
    });
    return {
      kind: 'image2video',
      input,
      parameters: defined({ resolution: classOf(ask) }),
      lost: ['reference', 'aspectRatio'],
    };
  }
  return {
    kind: 'video-generation',
    input: first ? { img_url: imageAddress(first) } : {},
    parameters: first ? defined({ resolution: classOf(ask) }) : defined({ size: sizeOf(ask) }),
    lost: ['last', 'reference', ...(isShaped(ask) && !first ? [] : (['aspectRatio'] as const))],
  };
}

/**
 * Sizes of models that accept pixels only. Source:
 * https://www.alibabacloud.com/help/en/model-studio/text-to-video-api-reference.
 */
const SIZES: readonly (readonly [lines: number, sizes: { readonly [ratio: string]: string }])[] = [
  [480, { '16:9': '832*480', '9:16': '480*832', '1:1': '624*624' }],
  [720, { '16:9': '1280*720', '9:16': '720*1280', '1:1': '960*960' }],
  [1080, { '16:9': '1920*1080', '9:16': '1080*1920', '1:1': '1440*1440' }],
];

/** The model's default is its largest size, so a resolution becomes the size of the nearest class below it. */
function sizeOf({ width, height, resolution, aspectRatio = '16:9' }: VideoCall): string | undefined {
  if (width !== undefined && height !== undefined) return `${width}*${height}`;
  if (resolution === undefined) return undefined;
  const lines = resolution.toLowerCase() === '4k' ? 2160 : Number.parseInt(resolution, 10);
  const [, sizes] = SIZES.findLast(([least]) => lines >= least) ?? SIZES[0]!;
  return sizes[aspectRatio] ?? sizes['16:9'];
}

/** Whether the size already expresses the aspect ratio. */
function isShaped({ width, resolution, aspectRatio = '' }: VideoCall): boolean {
  return width === undefined && resolution !== undefined && SIZES[0]![1][aspectRatio] !== undefined;
}

/** A resolution class such as `720P`. */
function classOf(ask: VideoCall): string | undefined {
  return resolutionOf(ask)?.toUpperCase();
}

function seenIn(members: JsonObject): TaskProgress {
  const output = memberOf(members, 'output');
  // The status of an expired task.
  if (output.task_status === 'UNKNOWN') throw new GatewayError('not_found', 'The provider knows of no such task.');
  const state = stateOf(WORDS, output.task_status);
  const url = output.video_url ?? memberOf(output, 'results').video_url;
  const { video_duration, duration = video_duration } = memberOf(members, 'usage');
  return {
    state,
    ...(state === 'completed' && { found: typeof url === 'string' ? [{ url }] : [] }),
    ...(state === 'completed' && typeof duration === 'number' && { billed: { seconds: duration } }),
    ...(state === 'failed' && { error: failure(output.code, output.message) }),
  };
}
