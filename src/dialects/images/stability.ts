/**
 * Stability AI's images, `POST /v2beta/stable-image/generate/{service}`: a form, one image per call. Source:
 * https://platform.stability.ai/docs/api-reference.
 */
import type { ImageCall } from '../../canonical/call.ts';
import type { GatewayError } from '../../canonical/errors.ts';
import { isObject, type JsonObject } from '../../canonical/json.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Written } from '../dialect.ts';
import { providerDialect } from '../shared/json-reply.ts';
import { readOpenaiError } from '../shared/openai-errors.ts';
import { imageFile } from '../shared/outgoing-media.ts';
import { type Quirks, quirksOf } from '../shared/quirks.ts';
import { encoded, fittedRatio, generatedEvents, unsupportedSettings } from './generated-images.ts';
import { refuseImages } from './image-refusal.ts';

const RATIOS = ['1:1', '16:9', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21'];
const NO_BYTES = new Uint8Array();
/** Models that share a service; the request must name the model. */
const NAMED = /^sd3/;
/** How far the result may differ from the given image (0 to 1). */
const STRENGTH = '0.7';

export const stabilityImages = providerDialect<ImageCall>({
  name: 'stability',
  kind: 'image',
  takesUploads: () => true,
  writeCall,
  meaning,
  readError,
});

function writeCall(call: ImageCall, model: string, quirks: Quirks): Written {
  refuseImages(call, quirksOf(quirks, model));
  const losses: string[] = [];
  const [image, ...others] = call.images;
  if (others.length > 0) losses.push('Only the first image was used: the model accepts one.');
  const ratio = image ? undefined : fittedRatio(call, RATIOS, losses);
  const isNamed = NAMED.test(model);
  const fields: { [name: string]: string | undefined } = {
    prompt: call.prompt,
    model: isNamed ? model : undefined,
    mode: isNamed && image ? 'image-to-image' : undefined,
    strength: image ? STRENGTH : undefined,
    negative_prompt: call.negativePrompt,
    aspect_ratio: ratio,
    seed: call.seed?.toString(),
    output_format: generatedFormat(call, losses),
    style_preset: call.style,
  };
  return {
    body: NO_BYTES,
    form: {
      fields: Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
      files: image ? [imageFile(image, 'image', 'image')] : [],
    },
    warnings: [...losses, ...unsupportedSettings(call, ['negativePrompt', 'seed', 'format', 'style'])],
  };
}

function generatedFormat({ format }: ImageCall, losses: string[]): string | undefined {
  if (format !== 'gif' && format !== 'svg') return format;
  losses.push(`\`output_format\` was taken as \`png\`: the model cannot generate \`${format}\`.`);
  return 'png';
}

function meaning({ image, finish_reason: finish }: JsonObject, call: ImageCall): ReplyEvent[] {
  const isFiltered = finish === 'CONTENT_FILTERED';
  const made = typeof image === 'string' && !isFiltered ? [{ base64: image }] : [];
  return generatedEvents(made, call, isFiltered ? "The provider's content filter removed the image." : undefined);
}

/** Its error bodies hold lists of sentences. */
function readError(status: number, headers: Headers, body: Uint8Array): GatewayError {
  return readOpenaiError(status, headers, asUsual(body));
}

function asUsual(body: Uint8Array): Uint8Array {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    if (!isObject(parsed) || !Array.isArray(parsed.errors)) return body;
    return encoded({ error: { message: parsed.errors.join(' '), code: parsed.name ?? null } });
  } catch {
    return body;
  }
}
