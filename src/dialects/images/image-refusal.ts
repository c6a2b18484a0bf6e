/** Images that a model cannot change are refused: drawing something new in the place of a change would be no answer. */
import type { ImageCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Quirks } from '../dialect.ts';

/** Throws `invalid_request` where the model draws anew and is given images. */
export function refuseImages({ images }: ImageCall, { drawsAnew }: Quirks): void {
  if (!drawsAnew || images.length === 0) return;
  const sentence = 'This model cannot edit images: choose a model that can.';
  throw new GatewayError('invalid_request', sentence, { param: 'image' });
}
