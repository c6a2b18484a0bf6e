/** Google's Imagen, `POST models/{model}:predict`. */
import type { ImageCall } from '../../canonical/call.ts';
import { finenessOf } from '../../canonical/image-size.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { ReplyEvent } from '../../canonical/reply.ts';
import type { Written } from '../dialect.ts';
import { readOpenaiError } from '../openai-errors.ts';
import { unreadable, vendorDialect } from '../whole-reply.ts';
import { encoded, fittedRatio, type Made, madeEvents, refusePictures, untold } from './made-pictures.ts';

const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'];

export const imagen = vendorDialect<ImageCall>({
  name: 'imagen',
  kind: 'image',
  writeCall,
  meaning,
  readError: readOpenaiError,
});

function writeCall(call: ImageCall): Written {
  refusePictures(call);
  const losses: string[] = [];
  const aspectRatio = fittedRatio(call, RATIOS, losses);
  const { negativePrompt, seed, format, compression } = call;
  const fineness = finenessOf(call.size);
  const parameters: JsonObject = {
    sampleCount: call.n,
    ...(aspectRatio !== undefined && { aspectRatio }),
    ...(fineness !== undefined && { sampleImageSize: fineness === '4K' ? '2K' : fineness }),
    ...(negativePrompt !== undefined && { negativePrompt }),
    // A seed and a watermark exclude each other there.
    ...(seed !== undefined && { seed, addWatermark: false }),
    ...(format !== undefined && {
      outputOptions: {
        mimeType: format === 'jpeg' ? 'image/jpeg' : 'image/png',
        ...(compression !== undefined && { compressionQuality: compression }),
      },
    }),
  };
  const warnings = [...losses, ...untold(call, ['negativePrompt', 'seed', 'format', 'compression'])];
  return { body: encoded({ instances: [{ prompt: call.prompt }], parameters }), warnings };
}

function meaning({ predictions }: JsonObject, call: ImageCall): ReplyEvent[] {
  // Where all of them are filtered some versions leave the member out.
  if (predictions !== undefined && !Array.isArray(predictions)) throw unreadable();
  const rows = (predictions ?? []).filter(isObject);
  const why = rows.map(({ raiFilteredReason }) => raiFilteredReason).find((reason) => typeof reason === 'string');
  return madeEvents(rows.flatMap(madeOf), call, typeof why === 'string' ? why : undefined);
}

function madeOf({ bytesBase64Encoded: base64, mimeType, prompt }: { [member: string]: Json }): Made[] {
  if (typeof base64 !== 'string') return [];
  return [
    {
      base64,
      ...(typeof mimeType === 'string' && { mimeType }),
      ...(typeof prompt === 'string' && { revisedPrompt: prompt }),
    },
  ];
}
