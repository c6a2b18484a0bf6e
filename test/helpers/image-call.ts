/** Makes an image call from the members that a test is about. */
import type { ImageCall } from '../../src/canonical/call.ts';
import { CALL_DEFAULTS } from './chat-call.ts';

export function imageCall(members: Partial<ImageCall> = {}): ImageCall {
  return { ...CALL_DEFAULTS, kind: 'image', prompt: 'A cat', images: [], edit: false, n: 1, size: {}, ...members };
}
