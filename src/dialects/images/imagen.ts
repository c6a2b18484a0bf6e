/**
 * Google's Imagen, `POST models/{model}:predict`. Sources:
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api and Google's own libraries.
 */
import type { ImageCall } from '../../canonical/call.ts';
import { finenessOf } from '../../canonical/image-size.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Written } from '../dialect.ts';
import { providerDialect, unreadable } from '../shared/json-reply.ts';
import { readOpenaiError } from '../shared/openai-errors.ts';
import { type Quirks, quirksOf } from '../shared/quirks.ts';
import { encoded, fittedRatio, type GeneratedImage, generatedEvents, unsupportedSettings } from './generated-images.ts';
import { refuseImages } from './image-refusal.ts';

const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'];

export const imagen = providerDialect<ImageCall>({
  name: 'imagen',
  kind: 'image',
  writeCall,
  meaning,
  readError: readOpenaiError,
});

/** Not every model supports `4K`. */
const FINENESS: { readonly [asked: string]: string } = { '512': '1K', '1K': '1K', '2K': '2K', '3K': '2K', '4K': '2K' };

function writeCall(call: ImageCall, model: string, all: Quirks): Written {
  refuseImages(call, { supportsImageInput: false });
  const { rejects = [] } = quirksOf(all, model);
  const losses: string[] = [];
  const aspectRatio = fittedRatio(call, RATIOS, losses);
  const { format, compression } = call;
  const negativePrompt = rejects.includes('negative_prompt') ? undefined : call.negativePrompt;
  const seed = rejects.includes('seed') ? undefined : call.seed;
  const asked = finenessOf(call.size);
  const fineness = FINENESS[asked ?? ''];
  if (fineness !== asked)
    losses.push(`The resolution ${asked} was changed to ${fineness}: the model supports no other.`);
  const mimeType = format === 'jpeg' ? 'image/jpeg' : 'image/png';
  if (format !== undefined && format !== 'jpeg' && format !== 'png')
    losses.push(`\`output_format\` was taken as \`png\`: the model cannot generate \`${format}\`.`);
  const parameters: JsonObject = {
    sampleCount: call.n,
    ...(aspectRatio !== undefined && { aspectRatio }),
    ...(fineness !== undefined && { sampleImageSize: fineness }),
    // Otherwise the reply does not say why an image is missing.
    includeRaiReason: true,
    ...(negativePrompt !== undefined && { negativePrompt }),
    // Imagen accepts a seed only without a watermark.
    ...(seed !== undefined && { seed, addWatermark: false }),
    ...(format !== undefined && {
      outputOptions: {
        mimeType,
        ...(compression !== undefined && { compressionQuality: compression }),
      },
    }),
  };
  const handled = (['negativePrompt', 'seed', 'format', 'compression'] as const).filter(
    (member) => !rejects.includes(member === 'negativePrompt' ? 'negative_prompt' : member),
  );
  const warnings = [...losses, ...unsupportedSettings(call, handled)];
  return { body: encoded({ instances: [{ prompt: call.prompt }], parameters }), warnings };
}

function meaning({ predictions }: JsonObject, call: ImageCall): ReplyEvent[] {
  // Some versions omit the member if all images were filtered.
  if (predictions !== undefined && !Array.isArray(predictions)) throw unreadable();
  const rows = (predictions ?? []).filter(isObject);
  const why = rows.map(({ raiFilteredReason }) => raiFilteredReason).find((reason) => typeof reason === 'string');
  return generatedEvents(rows.flatMap(madeOf), call, typeof why === 'string' ? why : undefined);
}

function madeOf({ bytesBase64Encoded: base64, mimeType, prompt }: { [member: string]: Json }): GeneratedImage[] {
  if (typeof base64 !== 'string') return [];
  return [
    {
      base64,
      ...(typeof mimeType === 'string' && { mimeType }),
      ...(typeof prompt === 'string' && { revisedPrompt: prompt }),
    },
  ];
}
