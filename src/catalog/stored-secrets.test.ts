import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../canonical/errors.ts';
import type { ProviderRow } from '../store/catalog-rows.ts';
import type { ProviderDefaults } from './catalog.ts';
import type { ProviderEntry } from './catalogue.ts';
import { withSecrets } from './stored-secrets.ts';

const OWN = 'https://api.vendor.test/v1';
const row = (more: Partial<ProviderRow> = {}): ProviderRow => ({
  ...{ name: 'main', type: 'openai', credentials: ['sk-stored'], settings: {} },
  ...more,
});
const entry = (more: Partial<ProviderEntry> = {}): ProviderEntry => ({
  ...{ name: 'main', type: 'openai', settings: {} },
  ...more,
});

/** The member that is refused, or the credentials that are kept. */
function outcome(changed: ProviderEntry, before: ProviderRow | undefined, defaults: ProviderDefaults | undefined) {
  try {
    return withSecrets(changed, before, 'p', defaults).credentials;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return thrown.param;
  }
}

describe('a stored credential', () => {
  const type = { baseUrl: OWN };
  test.each([
    ['stays at its address', {}, {}, ['sk-stored']],
    ['stays at another path', { baseUrl: 'https://proxy.test/a' }, { baseUrl: 'https://proxy.test/b' }, ['sk-stored']],
    [
      "stays at the type's own address, however it is written",
      {},
      { baseUrl: 'https://API.vendor.test:443/v2' },
      ['sk-stored'],
    ],
    [
      'stays with URLs among its settings, in whatever order they are given',
      { settings: { authority: 'https://login.test', scope: 'https://vendor.test/.default' } },
      { settings: { scope: 'https://vendor.test/.default', authority: 'https://login.test' } },
      ['sk-stored'],
    ],
    ['does not leave that address', {}, { baseUrl: 'https://evil.test/v1' }, 'p.credential'],
    ['does not go back to it', { baseUrl: 'https://proxy.test' }, {}, 'p.credential'],
    ['does not lose its TLS', { baseUrl: 'https://proxy.test' }, { baseUrl: 'http://proxy.test' }, 'p.credential'],
    [
      'does not go to another port',
      { baseUrl: 'https://proxy.test' },
      { baseUrl: 'https://proxy.test:444' },
      'p.credential',
    ],
    [
      'is not led away by a user name',
      { baseUrl: 'https://a.test' },
      { baseUrl: 'https://a.test@evil.test' },
      'p.credential',
    ],
    ['is not led away by a tab in the scheme', {}, { baseUrl: 'ht\ttps://evil.test' }, 'p.credential'],
    ['is not led away by a control character', {}, { baseUrl: '\u0001https://evil.test' }, 'p.credential'],
    [
      'is not sent to the URL of a setting that begins with a blank',
      {},
      { settings: { authority: ' https://evil.test' } },
      'p.credential',
    ],
    ['is not sent to the URL of a setting', {}, { settings: { storageUrl: 'https://evil.test' } }, 'p.credential'],
    ['is replaced with the address', {}, { baseUrl: 'https://evil.test', credentials: ['sk-new'] }, ['sk-new']],
    ['is removed with the address', {}, { baseUrl: 'https://evil.test', credentials: [] }, []],
    ['is not given to another type', {}, { type: 'mistral', baseUrl: 'https://evil.test' }, []],
  ] as const)('%s', (_, before, changed, expected) => {
    const given = outcome(entry(changed as Partial<ProviderEntry>), row(before), type);
    expect(given).toEqual(expected as typeof given);
  });

  test('is sent to the URL in the file of the process', () => {
    expect(outcome(entry({ baseUrl: 'https://proxy.test' }), row(), undefined)).toEqual(['sk-stored']);
  });
});

describe('a key of the environment', () => {
  const type = { baseUrl: OWN, credential: 'sk-environment' };
  const elsewhere = { baseUrl: 'https://evil.test/v1' };
  test.each([
    ['is used at the address of its type', undefined, {}, []],
    ['is not used at another one', undefined, elsewhere, 'p.credential'],
    ['is not used instead of a removed one', row(elsewhere), { ...elsewhere, credentials: [] }, 'p.credential'],
    [
      'is not used at the address of another type',
      row({ ...elsewhere, type: 'mistral', credentials: [] }),
      elsewhere,
      'p.credential',
    ],
    ['stays where it is used', row({ ...elsewhere, credentials: [] }), { ...elsewhere, concurrency: 2 }, []],
  ] as const)('%s', (_, before, changed, expected) => {
    const given = outcome(entry(changed as Partial<ProviderEntry>), before as ProviderRow | undefined, type);
    expect(given).toEqual(expected as typeof given);
  });
});

describe('a secret setting that comes back as it was shown', () => {
  const cloud = (settings: { [name: string]: string }) => ({ type: 'bedrock', settings });
  const stored = row({ ...cloud({ region: 'us-east-1', secretAccessKey: 'a-very-secret-secret' }), credentials: [] });
  const type: ProviderDefaults = { addressOf: ({ region }) => `https://bedrock.${region}.test` };

  test('is kept, also in another region', () => {
    const changed = entry(cloud({ region: 'eu-west-1', secretAccessKey: '…cret' }));
    expect(withSecrets(changed, stored, 'p', type).settings).toEqual({
      region: 'eu-west-1',
      secretAccessKey: 'a-very-secret-secret',
    });
  });
  test('is not kept at another address', () => {
    const changed = entry({ ...cloud({ secretAccessKey: '…cret' }), baseUrl: 'https://evil.test' });
    expect(outcome(changed, stored, type)).toBe('p.settings.secretAccessKey');
  });
  test.each([
    [stored, '…else'],
    [stored, '…ecret'],
    [row({ ...cloud({}), credentials: [] }), '…cret'],
    [undefined, '…cret'],
  ])('is refused where it is not the stored one', (before, secretAccessKey) => {
    expect(outcome(entry(cloud({ secretAccessKey })), before, type)).toBe('p.settings.secretAccessKey');
  });
});
