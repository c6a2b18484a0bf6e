/** Images that a model cannot change are refused: drawing something new in the place of a change would be no answer. */
import type { ImageCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { ModelQuirks } from '../dialect.ts';

/** Throws `invalid_request` where the model takes no images and the call has some. */
export function refuseImages(
  { images }: ImageCall,
  { supportsImageInput }: Pick<ModelQuirks, 'supportsImageInput'>,
): void {
  if (supportsImageInput || images.length === 0) return;
  const sentence = 'This model cannot edit images: choose a model that can.';
  throw new GatewayError('invalid_request', sentence, { param: 'image' });
}
