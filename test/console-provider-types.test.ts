import { expect, test } from 'bun:test';
import { PROVIDERS } from '../src/providers/index.ts';
import { TYPES, USUAL } from '../web/src/pages/providers/types.ts';

test('the console offers every type of provider, with what it needs', () => {
  const offered = new Map(TYPES.map((row) => [row.type, row]));
  expect(offered.size).toBe(TYPES.length);
  expect([...offered.keys(), 'sandbox'].sort()).toEqual([...PROVIDERS.keys()].sort());
  for (const provider of PROVIDERS.values()) {
    const row = offered.get(provider.name);
    if (!row) continue;
    const hasNoAddress = provider.baseUrl === undefined && provider.addressOf === undefined;
    expect([row.type, row.isUrlYours ?? false]).toEqual([row.type, hasNoAddress]);
    expect([row.type, row.isKeyless ?? false]).toEqual([row.type, !provider.needsCredential]);
    // Its address comes from a setting, so there is a field for it.
    if (provider.addressOf) expect([row.type, row.settings?.length ?? 0]).not.toEqual([row.type, 0]);
  }
  expect(TYPES[USUAL - 1]?.type).toBe('openai-compatible');
});
