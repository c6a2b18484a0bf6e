/** Refuses images for a model that cannot edit: generating a new image would not be an edit. */
import type { ImageCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { ModelQuirks } from '../shared/quirks.ts';

/** Throws `invalid_request` if the call has images and the model cannot edit. */
export function refuseImages(
  { images }: ImageCall,
  { supportsImageInput }: Pick<ModelQuirks, 'supportsImageInput'>,
): void {
  if (supportsImageInput || images.length === 0) return;
  const sentence = 'This model cannot edit images: choose a model that can.';
  throw new GatewayError('invalid_request', sentence, { param: 'image' });
}
