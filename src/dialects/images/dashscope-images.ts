/**
 * Alibaba's image APIs: synchronous (`multimodal-generation`) and as polled tasks (`image-synthesis`). Sources:
 * https://www.alibabacloud.com/help/en/model-studio/qwen-image-api, …/wan-image-generation-api-reference and
 * …/wanx-image-edit-api-reference.
 */
import type { ImageCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { writePixels } from '../../canonical/image-size.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Written } from '../dialect.ts';
import { providerDialect } from '../shared/json-reply.ts';
import { readOpenaiError } from '../shared/openai-errors.ts';
import { mediaUrl } from '../shared/outgoing-media.ts';
import { type Quirks, quirksOf } from '../shared/quirks.ts';
import { encoded, type GeneratedImage, generatedEvents, unsupportedSettings } from './generated-images.ts';
import { finenessWord, generatedSize } from './generated-size.ts';
import { refuseImages } from './image-refusal.ts';

export const dashscopeImages = providerDialect<ImageCall>({
  name: 'dashscope-images',
  kind: 'image',
  writeCall(call, model, quirks) {
    const content = [...call.images.map((media) => ({ image: mediaUrl(media) })), { text: call.prompt }];
    return written(call, model, quirks, { messages: [{ role: 'user', content }] }, negative(call));
  },
  meaning({ output }, call) {
    const choices = isObject(output) && Array.isArray(output.choices) ? output.choices.filter(isObject) : [];
    const contents = choices.flatMap(({ message }) =>
      isObject(message) && Array.isArray(message.content) ? message.content : [],
    );
    return generatedEvents(
      contents.flatMap((part) => (isObject(part) ? madeOf(part.image) : [])),
      call,
      undefined,
    );
  },
  readError: readOpenaiError,
});

export const dashscopeImageTasks = providerDialect<ImageCall>({
  name: 'dashscope-image-tasks',
  kind: 'image',
  writeCall(call, model, quirks) {
    const given = call.edit ? givenTo(call, model) : {};
    return written(call, model, quirks, { prompt: call.prompt, ...given, ...negative(call) }, {});
  },
  meaning: taskMeaning,
  readError: readOpenaiError,
});

/** This model requires a `function` that names the kind of edit. The most general one is the edit by description. */
const BY_FUNCTION = /imageedit/;

function givenTo({ images, mask }: ImageCall, model: string): JsonObject {
  const [first] = images;
  if (!first || !BY_FUNCTION.test(model)) return { images: images.map((image) => mediaUrl(image)) };
  const masked = mask && { mask_image_url: mediaUrl(mask) };
  return { function: `description_edit${mask ? '_with_mask' : ''}`, base_image_url: mediaUrl(first), ...masked };
}

function negative({ negativePrompt }: ImageCall): JsonObject {
  return negativePrompt === undefined ? {} : { negative_prompt: negativePrompt };
}

function written(call: ImageCall, model: string, all: Quirks, input: JsonObject, more: JsonObject): Written {
  const quirks = quirksOf(all, model);
  refuseImages(call, quirks);
  const losses: string[] = [];
  const size = sizeOf(call, quirks, losses);
  const parameters: JsonObject = {
    n: call.n,
    ...(size !== undefined && { size }),
    ...(call.seed !== undefined && { seed: call.seed }),
    ...more,
  };
  const handled = [
    'seed',
    'negativePrompt',
    ...(input.mask_image_url === undefined ? [] : (['mask'] as const)),
  ] as const;
  return { body: encoded({ model, input, parameters }), warnings: [...losses, ...unsupportedSettings(call, handled)] };
}

function sizeOf({ size }: ImageCall, quirks: Quirks, losses: string[]): string | undefined {
  const word = finenessWord(size, quirks);
  if (word !== undefined) return word;
  if (quirks.rejects?.includes('size')) {
    if (Object.keys(size).length > 0) losses.push('`size` was dropped: an edited image keeps its size.');
    return undefined;
  }
  const generated = generatedSize(size, quirks, losses);
  return generated && writePixels(generated, '*');
}

function madeOf(url: Json | undefined): GeneratedImage[] {
  return typeof url === 'string' ? [{ url }] : [];
}

/**
 * Reads the result of a finished task: its images, or why there are none. Failed images among successful ones are left
 * out.
 */
function taskMeaning({ output }: JsonObject, call: ImageCall): ReplyEvent[] {
  const task = isObject(output) ? output : {};
  const results = Array.isArray(task.results) ? task.results.filter(isObject) : [];
  const made = results.flatMap(({ url }) => madeOf(url));
  if (made.length > 0) return generatedEvents(made, call, undefined);
  const { code, message } = results.find((one) => typeof one.message === 'string') ?? task;
  const sentence = typeof message === 'string' && message !== '' ? message : 'The model returned no image.';
  const isRefusal = typeof code === 'string' && /^(DataInspection|InvalidParameter|IPInfringement)/.test(code);
  throw isRefusal
    ? new GatewayError('upstream_refused', sentence, { providerCode: code })
    : new GatewayError('upstream_failed', 'The model failed to generate the image.', { cause: code });
}
