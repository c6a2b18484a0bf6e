/** The row of a provider that only generates videos. */
import { authorizeByBearer } from '../chat/openai-compatible.ts';
import type { Provider } from '../provider.ts';

type VideoProviderRow = Pick<Provider, 'name' | 'baseUrl' | 'credentialVariable' | 'video'> & Partial<Provider>;

/** A provider that only generates videos. */
export function videoProvider(row: VideoProviderRow): Provider {
  return { needsCredential: true, speaks: {}, url: ({ baseUrl }) => baseUrl, authorize: authorizeByBearer, ...row };
}
