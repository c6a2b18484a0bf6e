/** What the databases of the previous release were made with (`make.ts`). */
import type { GatewaySetup } from '../helpers/gateway-process.ts';
import { PRICE } from '../helpers/scene.ts';

/** Encrypts the credential in these databases. */
export const SECRET_KEY = 'the key of the databases of the previous release';

/** The provider and its model; without a credential the stored one stays. */
export const oldModels = (upstream: string, credential?: string): Pick<GatewaySetup, 'providers' | 'models'> => ({
  providers: [
    { name: 'first', type: 'openai-compatible', baseUrl: `${upstream}/openai/v1`, ...(credential && { credential }) },
  ],
  models: [
    { name: 'alpha', kind: 'chat', price: PRICE, maxOutputTokens: 1000, targets: [{ provider: 'first', model: 'm' }] },
  ],
});
