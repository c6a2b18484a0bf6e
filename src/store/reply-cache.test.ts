import { describe, expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { NOON, storedReply } from '../../test/helpers/stored-reply.ts';
import { HOUR_MS } from '../canonical/time.ts';
import { openStore } from './open-store.ts';

describe.each(ENGINES)('cached replies over $name', (engine) => {
  test('a reply is found with its own account and hash, until it expires; a later one replaces it', async () => {
    const { replies } = (await freshStore(engine)).store.kept;
    await replies.put(storedReply('a'));
    expect(await replies.find('acc_1', 'a', NOON)).toEqual(storedReply('a'));
    expect(await replies.find('acc_2', 'a', NOON)).toBeUndefined();
    expect(await replies.find('acc_1', 'b', NOON)).toBeUndefined();
    expect(await replies.find('acc_1', 'a', NOON + HOUR_MS)).toBeUndefined();
    const later = storedReply('a', { at: NOON + 1, expiresAt: NOON + 2 * HOUR_MS, body: '{}' });
    await replies.put(later);
    expect(await replies.find('acc_1', 'a', NOON + HOUR_MS)).toEqual(later);
  });

  test('expired replies are removed a limited number at a time', async () => {
    const { replies } = (await freshStore(engine)).store.kept;
    for (let i = 0; i < 201; i++) await replies.put(storedReply(`h${i}`));
    await replies.put(storedReply('kept', { expiresAt: NOON + 2 * HOUR_MS }));
    expect(await replies.sweep(NOON + HOUR_MS - 1)).toBe(false);
    expect(await replies.sweep(NOON + HOUR_MS)).toBe(true);
    expect(await replies.sweep(NOON + HOUR_MS)).toBe(false);
    expect(await replies.find('acc_1', 'h7', NOON)).toBeUndefined();
    expect(await replies.find('acc_1', 'kept', NOON)).toBeDefined();
  });

  test('another process finds what one has stored', async () => {
    const { store, settings } = await freshStore(engine);
    const second = await openStore(settings);
    await store.kept.replies.put(storedReply('a'));
    expect(await second.kept.replies.find('acc_1', 'a', NOON)).toEqual(storedReply('a'));
    await second.close();
  });
});
