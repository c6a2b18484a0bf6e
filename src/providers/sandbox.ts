/** The vendor that ships: the transport hands what goes to this address to an upstream in the same process. */
import { openaiCompatibleVendor } from './openai-compatible.ts';

/** An address that no network has. */
export const SANDBOX_BASE_URL = 'http://sandbox.invalid/v1';

export const sandbox = openaiCompatibleVendor({
  name: 'sandbox',
  baseUrl: SANDBOX_BASE_URL,
  needsCredential: false,
  completions: true,
  embeddings: {},
  rerank: {},
});
