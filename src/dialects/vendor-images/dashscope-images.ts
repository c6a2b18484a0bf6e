/** Alibaba's pictures: at once, `multimodal-generation`, and as tasks that are asked after, `image-synthesis`. */
import type { ImageCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { pixelsOf, writePixels } from '../../canonical/image-size.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Written } from '../dialect.ts';
import { readOpenaiError } from '../openai-errors.ts';
import { vendorDialect } from '../whole-reply.ts';
import { dataUrl, encoded, type Made, madeEvents, untold } from './made-pictures.ts';

export const dashscopeImages = vendorDialect<ImageCall>({
  name: 'dashscope-images',
  kind: 'image',
  writeCall(call, model) {
    const content = [...call.pictures.map((media) => ({ image: dataUrl(media) })), { text: call.prompt }];
    return written(call, model, { messages: [{ role: 'user', content }] }, negative(call));
  },
  meaning({ output }, call) {
    const choices = isObject(output) && Array.isArray(output.choices) ? output.choices.filter(isObject) : [];
    const contents = choices.flatMap(({ message }) =>
      isObject(message) && Array.isArray(message.content) ? message.content : [],
    );
    return madeEvents(
      contents.flatMap((part) => (isObject(part) ? madeOf(part.image) : [])),
      call,
      undefined,
    );
  },
  readError: readOpenaiError,
});

export const dashscopeImageTasks = vendorDialect<ImageCall>({
  name: 'dashscope-image-tasks',
  kind: 'image',
  writeCall(call, model) {
    const images = call.edit ? { images: call.pictures.map(dataUrl) } : {};
    return written(call, model, { prompt: call.prompt, ...images, ...negative(call) }, {});
  },
  meaning: taskMeaning,
  readError: readOpenaiError,
});

function negative({ negativePrompt }: ImageCall): JsonObject {
  return negativePrompt === undefined ? {} : { negative_prompt: negativePrompt };
}

function written(call: ImageCall, model: string, input: JsonObject, more: JsonObject): Written {
  const pixels = pixelsOf(call.size);
  const parameters: JsonObject = {
    n: call.n,
    ...(pixels && { size: writePixels(pixels, '*') }),
    ...(call.seed !== undefined && { seed: call.seed }),
    ...more,
  };
  return { body: encoded({ model, input, parameters }), warnings: untold(call, ['seed', 'negativePrompt']) };
}

function madeOf(url: Json | undefined): Made[] {
  return typeof url === 'string' ? [{ url }] : [];
}

/** The last word of a task: its pictures, or why there are none; those that failed among several are left out. */
function taskMeaning({ output }: JsonObject, call: ImageCall): ReplyEvent[] {
  const task = isObject(output) ? output : {};
  const results = Array.isArray(task.results) ? task.results.filter(isObject) : [];
  const made = results.flatMap(({ url }) => madeOf(url));
  if (made.length > 0) return madeEvents(made, call, undefined);
  const { code, message } = results.find((one) => typeof one.message === 'string') ?? task;
  const sentence = typeof message === 'string' && message !== '' ? message : 'The model drew nothing.';
  const isRefusal = typeof code === 'string' && /^(DataInspection|InvalidParameter|IPInfringement)/.test(code);
  throw isRefusal
    ? new GatewayError('upstream_refused', sentence, { vendorCode: code })
    : new GatewayError('upstream_failed', 'The model failed to draw the picture.', { cause: code });
}
