import { afterAll, describe, expect, test } from 'bun:test';
import { ENGINES } from '../../test/helpers/engines.ts';
import { createCredentialCipher, type KeySource } from './credential-cipher.ts';
import { openStore } from './open-store.ts';
import type { Store } from './store.ts';

const OLD = 'old-key-0123456789-0123456789-0123';
const NEW = 'new-key-0123456789-0123456789-0123';
const CANARY = 'zq7Kw2ordinaryLookingWord99';

const keys = (current?: string, ...previous: string[]): KeySource => ({
  read: () => ({ current, previous }),
  make: () => {
    throw new Error('no key is made here');
  },
});

describe('an encrypted text', () => {
  const cipher = createCredentialCipher(keys(OLD));
  const encrypted = cipher.encrypt(CANARY, 'provider a');

  test('does not show the plain text, differs each time, and can be decrypted for its place', () => {
    expect(encrypted).not.toContain(CANARY);
    expect(cipher.encrypt(CANARY, 'provider a')).not.toBe(encrypted);
    expect(cipher.decrypt(encrypted, 'provider a')).toBe(CANARY);
    expect(cipher.decrypt(CANARY, 'provider a')).toBe(CANARY);
  });

  test('cannot be decrypted for another place, after a change, or without its key', () => {
    expect(() => cipher.decrypt(encrypted, 'provider b')).toThrow('was altered, or moved');
    const end = encrypted.at(-2) === 'A' ? 'B' : 'A';
    expect(() => cipher.decrypt(`${encrypted.slice(0, -2)}${end}${encrypted.at(-1)}`, 'provider a')).toThrow(
      'was altered',
    );
    expect(() => createCredentialCipher(keys(NEW)).decrypt(encrypted, 'provider a')).toThrow(
      'encrypted with another key',
    );
  });

  test('is decrypted with the previous key, and for an unknown key the key source is read again', () => {
    const rotated = createCredentialCipher(keys(NEW, OLD));
    expect(rotated.decrypt(encrypted, 'provider a')).toBe(CANARY);
    expect([
      rotated.isCurrent(encrypted),
      rotated.isCurrent(rotated.encrypt('x', 'y')),
      rotated.isCurrent('x'),
    ]).toEqual([false, true, false]);
    let now = OLD;
    const watching = createCredentialCipher({ read: () => ({ current: now, previous: [] }), make: () => now });
    watching.ensure();
    now = NEW;
    expect(watching.decrypt(createCredentialCipher(keys(NEW)).encrypt('x', 'y'), 'y')).toBe('x');
  });
});

describe.each(ENGINES)('providers on $name', (engine) => {
  const opened: Store[] = [];
  afterAll(async () => {
    for (const store of opened) await store.close();
  });
  const PROVIDER = {
    name: 'main',
    type: 'bedrock',
    credentials: [CANARY, 'second-credential'],
    settings: { region: 'eu', secretAccessKey: `${CANARY}-setting` },
  };

  async function at(settings: Parameters<typeof openStore>[0], source?: KeySource): Promise<Store> {
    const store = await openStore({ ...settings, ...(source && { cipher: createCredentialCipher(source) }) });
    opened.push(store);
    return store;
  }

  test('unencrypted rows of earlier versions are encrypted, and no plain text stays in the database', async () => {
    const { settings } = await engine.freshDatabase();
    const plain = await at(settings);
    await plain.migrate();
    await plain.saveProvider(PROVIDER);
    const store = await at(settings, keys(OLD));
    expect(await store.providers()).toEqual([PROVIDER]);
    expect(await store.reencryptProviders()).toBe(1);
    expect(await store.reencryptProviders()).toBe(0);
    expect(await store.providers()).toEqual([PROVIDER]);
    const [raw] = await plain.providers();
    expect(JSON.stringify(raw)).not.toContain(CANARY);
    expect(raw?.settings.region).toBe('eu');
  });

  test('a wrong key gives an error, and no row is written next to rows encrypted with another key', async () => {
    const { settings } = await engine.freshDatabase();
    const store = await at(settings, keys(OLD));
    await store.migrate();
    await store.saveProvider(PROVIDER);
    const wrong = await at(settings, keys(NEW));
    for (const act of [
      () => wrong.providers(),
      () => wrong.reencryptProviders(),
      () => wrong.saveProvider({ ...PROVIDER, name: 'other' }),
    ])
      await expect(act()).rejects.toThrow('encrypted with another key: set MODELPORT_SECRET_KEY');
    expect(await store.providers()).toEqual([PROVIDER]);
    // Saved again, it is encrypted with the new key.
    await wrong.saveProvider(PROVIDER);
    expect(await wrong.providers()).toEqual([PROVIDER]);
  });

  test('an interrupted rotation can be continued: each row names its key', async () => {
    const { settings } = await engine.freshDatabase();
    const before = await at(settings, keys(OLD));
    await before.migrate();
    for (const name of ['a', 'b', 'c']) await before.saveProvider({ ...PROVIDER, name });
    const during = await at(settings, keys(NEW, OLD));
    await during.saveProvider({ ...PROVIDER, name: 'b' });
    expect((await during.providers()).map(({ credentials }) => credentials[0])).toEqual([CANARY, CANARY, CANARY]);
    // The start does not re-encrypt rows of the previous key: gateways that only have that key continue to work.
    expect(await during.reencryptProviders('plain')).toBe(0);
    expect(await during.reencryptProviders()).toBe(2);
    expect(await (await at(settings, keys(NEW))).providers()).toHaveLength(3);
    await expect(before.providers()).rejects.toThrow('another key');
  });
});
