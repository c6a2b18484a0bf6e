import { describe, expect, test } from 'bun:test';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { NOON, storedReply } from '../../test/helpers/stored-reply.ts';
import { HOUR_MS } from '../canonical/time.ts';
import { sizeOfReply } from '../store/reply-cache.ts';
import { createReplyCache } from './reply-cache.ts';

describe.each(ENGINES)('the cache of replies over $name', (engine) => {
  test('the oldest make way where an account would hold more than its bound, and no other account pays for it', async () => {
    const { replies } = (await freshStore(engine)).store.kept;
    const body = 'x'.repeat(1000);
    const size = sizeOfReply(body);
    const cache = createReplyCache(replies, 16 * size);
    await replies.put(storedReply('other', { account: 'acc_2', body: 'y'.repeat(40_000) }));
    for (let i = 0; i < 40; i++) await cache.put(storedReply(`h${i}`, { at: NOON + i, body }));
    const kept: number[] = [];
    for (let i = 0; i < 40; i++) if (await replies.find('acc_1', `h${i}`, NOON)) kept.push(i);
    expect(kept).toEqual(Array.from({ length: 16 }, (_, i) => 24 + i));
    expect(await replies.find('acc_2', 'other', NOON)).toBeDefined();
  });

  test('no reply is older than a caller takes it', async () => {
    const cache = createReplyCache((await freshStore(engine)).store.kept.replies, 1_000_000);
    await cache.put(storedReply('a'));
    expect(await cache.find('acc_1', 'a', NOON + 59_999, 60_000)).toBeDefined();
    expect(await cache.find('acc_1', 'a', NOON + 60_000, 60_000)).toBeUndefined();
  });

  test('a sweep trims what slow writers have left, and removes what has expired', async () => {
    const { replies } = (await freshStore(engine)).store.kept;
    const body = 'x'.repeat(1000);
    const cache = createReplyCache(replies, 33 * sizeOfReply(body));
    for (let i = 0; i < 33; i++) await replies.put(storedReply(`h${i}`, { at: NOON + i, body }));
    await cache.put(storedReply('last', { at: NOON + 99, body }));
    expect(await replies.find('acc_1', 'h0', NOON)).toBeDefined();
    await cache.sweep(NOON);
    expect(await replies.find('acc_1', 'h0', NOON)).toBeUndefined();
    expect(await replies.find('acc_1', 'h1', NOON)).toBeDefined();
    await cache.sweep(NOON + HOUR_MS);
    expect(await replies.find('acc_1', 'h1', NOON)).toBeUndefined();
  });
});
