/** Prices that several admins change at once, each in a process of its own. */

import { describe, expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { auditOf } from '../access/audit.ts';
import { HOUR_MS } from '../canonical/time.ts';
import { createPriceBook } from '../catalog/price-book.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';

const NOW = Date.UTC(2026, 10, 23, 12);
const fileAt = (input: string) => ({
  models: [
    {
      type: 'openai',
      model: 'gpt',
      kind: 'chat',
      price: { input, output: '3' },
      source: 'https://prices.test',
      asOf: '2026-11-01',
    },
  ],
  tools: [],
});

/** The price book of one process. */
function bookOf(store: Store) {
  const guard = { fetch: () => Promise.reject(new Error('Nothing is fetched.')) };
  const book = createPriceBook({ store, guard, now: () => NOW });
  const audit = (subject: string) => auditOf({ actor: 'cli', action: 'price.adopted', subject }, NOW);
  return {
    async compared(input: string) {
      return (await book.compare({ prices: fileAt(input) })).fingerprint;
    },
    adopt: (input: string, fingerprint: string, from?: number) =>
      book.adopt({ prices: fileAt(input), fingerprint, models: ['gpt'], from }, audit as never),
    cancel: (priceId: string) => book.cancel(priceId, audit as never),
  };
}

describe.each(ENGINES)('$name:', (engine) => {
  test('no adopted or cancelled price of several admins is lost', async () => {
    const { store, settings } = await freshStore(engine);
    const other = await openStore(settings);
    await store.saveProvider({ name: 'main', type: 'openai', credentials: [], settings: {}, createdAt: NOW } as never);
    await store.savePrice({
      id: 'price_0',
      model: 'gpt',
      components: '{"input":"1000","output":"3000000"}',
      createdAt: 1,
    });
    await store.saveModel({
      ...{
        name: 'gpt',
        kind: 'chat',
        priceId: 'price_0',
        targets: [{ provider: 'main', model: 'gpt', priority: 0, weight: 1 }],
      },
      ...{ ownedBy: 'openai', onDisconnect: 'abort', createdAt: 1 },
    } as never);
    const [one, two] = [bookOf(store), bookOf(other)];
    const begins = async () => (await store.models())[0]?.scheduled?.map(({ from }) => (from - NOW) / HOUR_MS) ?? [];
    const ids = async () => (await store.models())[0]?.scheduled?.map(({ priceId }) => priceId) ?? [];

    /** As an admin does it whose change conflicts with a newer one. */
    async function adopted({ compared, adopt }: typeof one, hours: number): Promise<void> {
      for (let tries = 1; ; tries++) {
        try {
          await adopt('2', await compared('2'), NOW + hours * HOUR_MS);
          return;
        } catch (thrown) {
          if ((thrown as { code?: string }).code !== 'conflict' || tries === 20) throw thrown;
        }
      }
    }
    await Promise.all([1, 2, 3, 4].map((hours) => adopted(hours % 2 ? one : two, hours)));
    expect(await begins()).toEqual([1, 2, 3, 4]);

    const [first = '', second = ''] = await ids();
    await Promise.all([one.cancel(first), two.cancel(second), adopted(one, 5)]);
    expect(await begins()).toEqual([3, 4, 5]);

    // Both begin now: one of them did not see the other's price.
    const fingerprint = await one.compared('2');
    const versions = (await store.prices({ limit: 100 })).length;
    const both = await Promise.allSettled([one.adopt('2', fingerprint), two.adopt('2', fingerprint)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(both.find((done) => done.status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } });
    expect((await store.prices({ limit: 100 })).length).toBe(versions + 1);
    expect(await begins()).toEqual([3, 4, 5]);
    const [third = ''] = await ids();
    const twice = await Promise.allSettled([one.cancel(third), two.cancel(third)]);
    expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await other.close();
    await store.close();
  });
});
