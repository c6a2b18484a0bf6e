import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import { openStore } from '../store/open-store.ts';
import type { KeyKind, KeyRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { type Caller, createAccess, nameFor } from './access.ts';
import { hashKey, issueKey } from './key.ts';
import { createLocalLimits } from './local-limits.ts';
import { SCOPES } from './scopes.ts';

const NOW = 1_700_000_000_000;
const folder = mkdtempSync(join(tmpdir(), 'modelport-access-'));
let store: Store;

beforeAll(async () => {
  store = await openStore({ dataDir: folder });
  await store.migrate();
  await store.createAccount({ id: 'acc_1', name: 'one', balance: 0n, held: 0n, createdAt: NOW });
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

let made = 0;
async function makeKey(members: Partial<KeyRow> = {}, kind: KeyKind = 'caller') {
  const { key, hash, last4 } = issueKey(kind);
  const id = `key_${++made}`;
  await store.createKey({ id, account: 'acc_1', kind, name: id, hash, last4, createdAt: NOW, ...members });
  return { id, key };
}

const present = (key: string | undefined, address = '127.0.0.1') => ({ key, address });

async function refusal(run: () => Caller | Promise<Caller>): Promise<GatewayError> {
  try {
    await run();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error('the key was accepted');
}

/** A store that counts lookups and otherwise behaves like the real one. */
function counting() {
  const counts = { lookUps: 0 };
  const keyByHash: Store['keyByHash'] = (hash) => {
    counts.lookUps++;
    return store.keyByHash(hash);
  };
  return { counts, access: createAccess({ store: { ...store, keyByHash } }) };
}

test('an issued key is its prefix and 48 random characters, and the stored row does not contain it', () => {
  const caller = issueKey('caller');
  const admin = issueKey('admin');
  expect(caller.key).toMatch(/^sk-[0-9A-Za-z]{48}$/);
  expect(admin.key).toMatch(/^sk-admin-[0-9A-Za-z]{48}$/);
  expect(caller.hash).toMatch(/^[0-9a-f]{64}$/);
  expect(caller.last4).toBe(caller.key.slice(-4));
  expect(issueKey('caller').key).not.toBe(caller.key);
  expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(issueKey('caller', 'sk-given')).toEqual({ key: 'sk-given', hash: hashKey('sk-given'), last4: 'iven' });
});

test('a known key is authenticated, without waiting from the second time on', async () => {
  const { access, counts } = counting();
  const { id, key } = await makeKey({ models: ['a'], budget: { total: 5n } });
  const caller = await access.authenticate(present(key), NOW);
  expect(caller).toMatchObject({
    key: id,
    account: 'acc_1',
    kind: 'caller',
    models: new Set(['a']),
    budget: { total: 5n },
  });
  expect(access.authenticate(present(key), NOW + 1)).toBe(caller);
  expect(counts.lookUps).toBe(1);
});

test('a missing, an unknown and a malformed key are refused, and no message repeats the key', async () => {
  const access = createAccess({ store });
  expect((await refusal(() => access.authenticate(present(undefined), NOW))).code).toBe('invalid_api_key');
  expect((await refusal(() => access.authenticate(present(''), NOW))).code).toBe('invalid_api_key');
  const unknown = issueKey('caller').key;
  const refused = await refusal(() => access.authenticate(present(unknown), NOW));
  expect(refused).toMatchObject({ code: 'invalid_api_key', status: 401 });
  expect(refused.message).not.toContain(unknown);
  expect((await refusal(() => access.authenticate(present('k'.repeat(100_000)), NOW))).code).toBe('invalid_api_key');
});

test('an unknown key is cached as unknown, and works at once after it was created and the cache dropped', async () => {
  const { access, counts } = counting();
  const { key, hash, last4 } = issueKey('caller');
  for (let i = 0; i < 3; i++) await refusal(() => access.authenticate(present(key), NOW));
  expect(counts.lookUps).toBe(1);
  await store.createKey({
    id: 'key_late',
    account: 'acc_1',
    kind: 'caller',
    name: 'late',
    hash,
    last4,
    createdAt: NOW,
  });
  access.forget();
  expect((await access.authenticate(present(key), NOW)).key).toBe('key_late');
});

test('a replaced key is cached as unknown', async () => {
  const { access, counts } = counting();
  const { id, key } = await makeKey();
  await access.authenticate(present(key), NOW);
  await store.updateKey(id, { hash: issueKey('caller').hash });
  const later = NOW + 60_000;
  for (let i = 0; i < 3; i++) await refusal(() => access.authenticate(present(key), later));
  expect(counts.lookUps).toBe(2);
});

test('guessing keys evicts no valid key from the cache', async () => {
  const { access, counts } = counting();
  const { key } = await makeKey();
  await access.authenticate(present(key), NOW);
  const guesses = Array.from({ length: 10_100 }, (_, i) => refusal(() => access.authenticate(present(`sk-${i}`), NOW)));
  await Promise.all(guesses);
  const before = counts.lookUps;
  await access.authenticate(present(key), NOW);
  await refusal(() => access.authenticate(present('sk-10099'), NOW));
  expect(counts.lookUps).toBe(before);
  await refusal(() => access.authenticate(present('sk-0'), NOW));
  expect(counts.lookUps).toBe(before + 1);
});

test('many requests with the same new key query the database once', async () => {
  const { access, counts } = counting();
  const { key } = await makeKey();
  await Promise.all(Array.from({ length: 50 }, () => access.authenticate(present(key), NOW)));
  expect(counts.lookUps).toBe(1);
});

test('a disabled key is refused when the cache is dropped or the entry is too old', async () => {
  const access = createAccess({ store, cacheMs: 1000 });
  const { id, key } = await makeKey();
  await access.authenticate(present(key), NOW);
  await store.updateKey(id, { disabledAt: NOW });
  expect((await access.authenticate(present(key), NOW + 999)).key).toBe(id);
  expect((await refusal(() => access.authenticate(present(key), NOW + 1000))).code).toBe('key_disabled');
  await store.updateKey(id, { disabledAt: null });
  access.forget();
  expect((await access.authenticate(present(key), NOW + 1001)).key).toBe(id);
});

test('a lookup that runs while the cache is dropped does not fill the cache', async () => {
  let answer = (_: KeyRow | undefined) => {};
  const { id, key } = await makeKey();
  const row = await store.keyByHash(hashKey(key));
  let slow = true;
  const keyByHash: Store['keyByHash'] = (hash) =>
    slow ? new Promise((resolve) => (answer = resolve)) : store.keyByHash(hash);
  const access = createAccess({ store: { ...store, keyByHash } });
  const early = access.authenticate(present(key), NOW);
  await store.updateKey(id, { disabledAt: NOW });
  access.forget();
  slow = false;
  answer(row);
  expect((await early).key).toBe(id);
  expect((await refusal(() => access.authenticate(present(key), NOW))).code).toBe('key_disabled');
});

test('a key expires at the exact millisecond, cached or not', async () => {
  const access = createAccess({ store });
  const { id, key } = await makeKey({ expiresAt: NOW + 10 });
  expect((await access.authenticate(present(key), NOW + 9)).key).toBe(id);
  const refused = await refusal(() => access.authenticate(present(key), NOW + 10));
  expect(refused).toMatchObject({ code: 'key_expired', status: 401 });
  expect(refused.message).toBe('This API key expired on 2023-11-14T22:13:20.010Z: use another one.');
});

test('a key can be bound to address ranges', async () => {
  const access = createAccess({ store });
  const { id, key } = await makeKey({ addresses: ['10.0.0.0/8', '2001:db8::/32'] });
  expect((await access.authenticate(present(key, '10.2.3.4'), NOW)).key).toBe(id);
  expect((await access.authenticate(present(key, '::ffff:10.2.3.4'), NOW)).key).toBe(id);
  const refused = await refusal(() => access.authenticate(present(key, '192.168.0.1'), NOW));
  expect(refused).toMatchObject({ code: 'address_not_allowed', status: 403 });
  const unreadable = await makeKey({ addresses: ['anywhere'] });
  expect((await refusal(() => access.authenticate(present(unreadable.key), NOW))).code).toBe('address_not_allowed');
});

test('an admin key opens only the admin API, and a caller key only the public API', async () => {
  const access = createAccess({ store });
  const admin = await makeKey({}, 'admin');
  const caller = await makeKey();
  expect((await access.authenticate(present(admin.key), NOW, 'admin')).kind).toBe('admin');
  for (const refused of [
    await refusal(() => access.authenticate(present(admin.key), NOW)),
    await refusal(() => access.authenticate(present(caller.key), NOW, 'admin')),
  ]) {
    expect(refused).toMatchObject({ code: 'scope_not_allowed', status: 403 });
  }
});

test('a key with a list of models can call exactly these, and a key without a list can call all', async () => {
  const access = createAccess({ store });
  const bound = await access.authenticate(present((await makeKey({ models: ['gpt-4o'] })).key), NOW);
  const free = await access.authenticate(present((await makeKey()).key), NOW);
  const none = await access.authenticate(present((await makeKey({ models: [] })).key), NOW);
  access.allowModel(bound, { name: 'gpt-4o' });
  access.allowModel(free, { name: 'anything' });
  for (const [caller, model] of [
    [bound, 'GPT-4o'],
    [none, 'gpt-4o'],
  ] as const) {
    const refused = await refusal(() => {
      access.allowModel(caller, { name: model });
      return caller;
    });
    expect(refused).toMatchObject({ code: 'model_not_allowed', status: 403, param: 'model' });
  }
});

test('a key may call a model by the wildcard it is configured as, or by the alias that its list names', async () => {
  const access = createAccess({ store });
  const caller = await access.authenticate(present((await makeKey({ models: ['claude-*', 'fast'] })).key), NOW);
  access.allowModel(caller, { name: 'claude-x', wildcard: 'claude-*' }, 'claude-x');
  access.allowModel(caller, { name: 'gpt-4o' }, 'fast');
  for (const [model, requested] of [
    [{ name: 'gpt-4o' }, 'gpt-4o'],
    [{ name: 'claude-x' }, 'claude-x'],
    [{ name: 'gemini-x', wildcard: 'gemini-*' }, 'gemini-x'],
  ] as const) {
    expect(() => access.allowModel(caller, model, requested)).toThrow(requested);
  }
});

test('the aliases of a key come with its caller', async () => {
  const access = createAccess({ store });
  const aliases = { 'gpt-4o': 'claude-x', constructor: 'gpt-5' };
  const caller = await access.authenticate(present((await makeKey({ aliases })).key), NOW);
  expect(['gpt-4o', 'constructor', 'toString'].map((name) => nameFor(caller, name))).toEqual([
    'claude-x',
    'gpt-5',
    'toString',
  ]);
});

test('rate counters stay when the settings of a key change', async () => {
  const access = createAccess({ store, limits: createLocalLimits(() => NOW) });
  const { key } = await makeKey({ requestsPerMinute: 1 });
  (await access.admit(await access.authenticate(present(key), NOW), 'call_1', 0)).end(0);
  access.forget();
  const again = await access.authenticate(present(key), NOW);
  expect(() => access.admit(again, 'call_2', 0)).toThrow(
    'This key may make 1 request per minute. Please try again in 61 seconds.',
  );
});

test.each([
  [
    { tokensPerMinute: 100 },
    'The call may need 126 tokens, and this key may use 100 per minute: it can never be admitted. Ask for fewer output tokens, send a shorter request, or have the limit raised.',
  ],
  [{ requestsPerMinute: 0 }, 'This key may make no requests: its limit per minute is 0.'],
  [{ concurrency: 0 }, 'This key may run no calls: its limit of concurrent calls is 0.'],
])('a call that exceeds %p by itself is refused without a retry time', async (pace, message) => {
  const access = createAccess({ store });
  const caller = await access.authenticate(present((await makeKey(pace)).key), NOW);
  const refused = await refusal(async () => {
    await access.admit(caller, 'call_1', 126);
    return caller;
  });
  expect(refused).toMatchObject({ code: 'rate_limited', status: 429, message, retryAfterSeconds: undefined });
});

test('a key without limits is admitted synchronously, without an allocation of its own', async () => {
  const access = createAccess({ store });
  const first = await access.authenticate(present((await makeKey()).key), NOW);
  expect(first.paced).toBeUndefined();
  const admissions = Array.from({ length: 1000 }, (_, i) => access.admit(first, `call_${i}`, 1e9));
  expect(new Set(admissions).size).toBe(1);
  expect(admissions[0]).not.toBeInstanceOf(Promise);
});

test('limits, budget and status of an account bind its keys; admin keys still work', async () => {
  const id = newId('acct_');
  await store.createAccount({ id, name: id, balance: 0n, held: 0n, createdAt: NOW });
  const access = createAccess({ store });
  const { key } = await makeKey({ account: id });
  const admin = await makeKey({ account: id }, 'admin');
  await store.updateAccount(id, { requestsPerMinute: 2, budget: { day: 5n } });
  const caller = await access.authenticate(present(key), NOW);
  expect(caller).toMatchObject({ accountBudget: { day: 5n }, paced: [{ id, of: 'account', requestsPerMinute: 2 }] });
  await store.updateAccount(id, { disabledAt: NOW });
  access.forget();
  expect(await refusal(() => access.authenticate(present(key), NOW))).toMatchObject({
    code: 'key_disabled',
    status: 401,
  });
  expect(await access.authenticate(present(admin.key), NOW, 'admin')).toMatchObject({ account: id });
});

test('after a rotation the old secret works until its end', async () => {
  const access = createAccess({ store });
  const { key, id } = await makeKey();
  const fresh = issueKey('caller');
  await store.updateKey(id, { hash: fresh.hash, priorHash: hashKey(key), priorUntil: NOW + 5000 });
  expect(await access.authenticate(present(key), NOW)).toMatchObject({ key: id });
  expect(await access.authenticate(present(fresh.key), NOW)).toMatchObject({ key: id });
  expect(() => access.authenticate(present(key), NOW + 5000)).toThrow('not known');
  expect(await access.authenticate(present(fresh.key), NOW + 5000)).toMatchObject({ key: id });
});

test('a key with scopes can use only these; a key without scopes can use everything', async () => {
  const access = createAccess({ store });
  const free = await access.authenticate(present((await makeKey()).key), NOW);
  const bound = await access.authenticate(present((await makeKey({ scopes: ['chat', 'models'] })).key), NOW);
  for (const scope of [...SCOPES, undefined]) access.allowScope(free, scope);
  access.allowScope(bound, 'chat');
  for (const scope of ['balance', 'video', undefined] as const) {
    expect(() => access.allowScope(bound, scope)).toThrow('may be used for chat, models, not for this endpoint');
  }
});

test('a cached key is not looked up again', async () => {
  const access = createAccess({ store });
  const { key } = await makeKey();
  await access.authenticate(present(key), NOW);
  const presented = present(key);
  const times = 100_000;
  const start = performance.now();
  for (let i = 0; i < times; i++) access.authenticate(presented, NOW);
  const each = ((performance.now() - start) * 1000) / times;
  // A cached lookup takes about 1 µs; a database query would take hundreds.
  expect(each).toBeLessThan(50);
});
