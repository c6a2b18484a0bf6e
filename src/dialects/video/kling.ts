/**
 * Kling's endpoints, `/vendor-a/v1/videos/text2video` and `/image2video`: Kling's request body; the response is that of
 * docs/api.md#video-generations.
 */
import type { VideoCall } from '../../canonical/task.ts';
import { wrong } from '../shared/request-body.ts';
import { withoutRepeats } from './money.ts';
import { KlingRequest } from './request-schemas.ts';
import { defined, FieldReader, type VideoFormat, type VideoFormatRequest } from './video-format.ts';
import { writeResult } from './video-generations.ts';

export const klingVideos: VideoFormat = { name: 'vendor-a', readAsk, writeTask: writeResult };

function readAsk({ fields, fromImage }: VideoFormatRequest): VideoCall {
  const reader = new FieldReader(fields, KlingRequest);
  const images = [...reader.image('first', 'image'), ...reader.image('last', 'image_tail')];
  if (fromImage && images.length === 0) throw wrong('image', 'is missing: the video begins with it');
  const known = {
    prompt: reader.text('prompt'),
    negativePrompt: reader.text('negative_prompt'),
    seconds: reader.number('duration'),
    aspectRatio: reader.text('aspect_ratio'),
    seed: reader.number('seed'),
    webhook: reader.text('callback_url'),
  };
  const ask = {
    model: reader.text('model_name', 'model') ?? '',
    images,
    // `mode`, `cfg_scale`, `camera_control` and others are specific to Kling.
    metadata: reader.rest(),
    words: klingVideos.name,
    ...defined(known),
  };
  return withoutRepeats(ask, undefined);
}
