/** Encrypts providers' credentials and people's second factors with a new key. Can be interrupted at any point and run again. */
import { forgetOldKey, rotateKeyFile, type SecretKeySettings } from './config/secret-key.ts';
import type { Store } from './store/store.ts';

/** Longer than another process takes to finish a change of a provider that it began with the old key. */
const SETTLING_MS = 1000;

export async function rotateSecrets(
  settings: SecretKeySettings,
  store: Pick<Store, 'providers' | 'reencryptProviders' | 'people'> & { alerts: Pick<Store['alerts'], 'reencrypt'> },
  sleep: (ms: number) => Promise<unknown> = Bun.sleep,
): Promise<{ from: string; providers: number }> {
  // Starts only if every credential can be decrypted.
  await store.providers();
  const isFile = rotateKeyFile(settings);
  let providers = await store.reencryptProviders();
  await store.alerts.reencrypt();
  await store.people.reencryptPeople();
  if (!isFile) return { from: 'MODELPORT_SECRET_KEY', providers };
  for (let more = -1; more !== 0; providers += more) {
    await sleep(SETTLING_MS);
    more = await store.reencryptProviders();
    await store.alerts.reencrypt();
  }
  // A person may have turned on a second factor with the old key meanwhile.
  while ((await store.people.reencryptPeople()) > 0);
  forgetOldKey(settings.dataDir);
  return { from: 'the key file', providers };
}
