/** Encrypts providers' credentials with a new key; may be cut short anywhere and run again. */
import { forgetOldKey, rotateKeyFile, type SecretKeySettings } from './config/secret-key.ts';
import type { Store } from './store/store.ts';

/** Longer than a change of a provider takes that another process has begun with the old key. */
const SETTLING_MS = 1000;

export async function rotateSecrets(
  settings: SecretKeySettings,
  store: Pick<Store, 'providers' | 'resealProviders'>,
  sleep: (ms: number) => Promise<unknown> = Bun.sleep,
): Promise<{ from: string; providers: number }> {
  // All can be opened, or nothing is begun.
  await store.providers();
  const isFile = rotateKeyFile(settings);
  let providers = await store.resealProviders();
  if (!isFile) return { from: 'MODELPORT_SECRET_KEY', providers };
  for (let more = -1; more !== 0; providers += more) {
    await sleep(SETTLING_MS);
    more = await store.resealProviders();
  }
  forgetOldKey(settings.dataDir);
  return { from: 'the key file', providers };
}
