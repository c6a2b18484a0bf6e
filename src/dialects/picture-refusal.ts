/** Pictures that a model cannot change are refused: drawing something new in the place of a change would be no answer. */
import type { ImageCall } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Quirks } from './dialect.ts';

/** Throws `invalid_request` where the model draws anew and is given pictures. */
export function refusePictures({ pictures }: ImageCall, { drawsAnew }: Quirks): void {
  if (!drawsAnew || pictures.length === 0) return;
  const sentence = 'This model draws anew and takes no picture to work from: choose a model that changes pictures.';
  throw new GatewayError('invalid_request', sentence, { param: 'image' });
}
