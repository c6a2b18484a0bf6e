import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callRow } from '../../test/helpers/call-row.ts';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { type Ran, runAsProcess } from '../../test/helpers/run-as-process.ts';
import { openStore } from '../store/open-store.ts';
import type { CallRow } from '../store/rows.ts';
import type { CliDeps, Probed } from './cli-deps.ts';

let folder: string;
let edge: Loopback;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'modelport-cli-'));
  edge = await startLoopback();
});
afterEach(async () => {
  await edge.stop();
  await rm(folder, { recursive: true });
});

const run = (...argv: string[]): Promise<Ran> => runOver({}, ...argv);
const runOver = (changes: Partial<CliDeps>, ...argv: string[]): Promise<Ran> => runAsProcess(edge, changes, argv);

const FORM = {
  providers: [{ name: 'main', type: 'openai', credential: 'secret-abcdefgh1234' }],
  models: [{ name: 'alpha', price: { input: 0.15, output: 0.6 }, targets: [{ provider: 'main' }] }],
};

async function writeForm(form: object): Promise<string> {
  const path = join(folder, 'form.json');
  await Bun.write(path, JSON.stringify(form));
  return path;
}

test('help lists the commands, and shows details of one', async () => {
  for (const argv of [[], ['help'], ['--help']]) {
    const { code, out } = await run(...argv);
    expect(code).toBe(0);
    for (const name of ['serve', 'apply', 'keys create', 'top-up', 'ledger verify', 'doctor', 'migrate']) {
      expect(out).toContain(`  ${name} `);
    }
  }
  for (const argv of [
    ['help', 'top-up'],
    ['top-up', '--help'],
  ]) {
    expect((await run(...argv)).out).toStartWith('modelport top-up ACCOUNT AMOUNT [--note TEXT]');
  }
  expect((await run('help', 'keys')).out).toContain('modelport keys rotate ID');
  expect(await run('keys', '--help')).toEqual(await run('help', 'keys'));
  expect((await run('--version')).out).toBe('1.2.3');
});

test.each([
  [['dance'], 'There is no command "dance". "modelport help" lists them.'],
  [
    ['keys'],
    'Use one of: modelport keys list, modelport keys create, modelport keys update, modelport keys disable, modelport keys enable, modelport keys rotate, modelport keys delete.',
  ],
  [['top-up', 'default'], 'Write: modelport top-up ACCOUNT AMOUNT [--note TEXT] [--idempotency-key TEXT]'],
  [['top-up', 'default', 'much'], '"much" is not a valid amount: write USD above zero, such as 5.00.'],
  [['top-up', 'nobody', '5'], 'There is no account "nobody". "modelport accounts list" lists them.'],
  [['apply'], 'Name a file: modelport apply -f modelport.yaml'],
  [['calls', '--limit', '0'], '--limit must be an integer from 1 to 1000.'],
  [['dance', '--help'], 'There is no command "dance". "modelport help" lists them.'],
  [['help', 'dance'], 'There is no command "dance". "modelport help" lists them.'],
])('%j gives a one-line error', async (argv, sentence) => {
  expect(await run(...argv)).toEqual({ code: 1, out: '', err: sentence });
});

test('an unknown option gives a one-line error', async () => {
  const { code, err } = await run('models', '--colour');
  expect(code).toBe(1);
  expect(err).toBe("Unknown option '--colour'. Write: modelport models");
});

test('an invalid setting gives its error and exit code 1', async () => {
  const settings = () => {
    throw new Error('PORT must be a number from 0 to 65535.');
  };
  const ran = await runOver({ settings }, 'doctor');
  expect(ran).toEqual({ code: 1, out: '', err: 'PORT must be a number from 0 to 65535.' });
});

test('serve starts the gateway and returns its exit code', async () => {
  expect((await run('serve')).code).toBe(7);
});

test('health asks a server without a key, and exits with 1 if it does not answer or is not ready', async () => {
  expect(await run('health')).toEqual({ code: 0, out: `${edge.address}/health answered 200.`, err: '' });
  expect(await run('health', '--ready', '--json')).toMatchObject({ code: 0 });
  const { hostname: host } = new URL(edge.address);
  const unready = Bun.serve({
    hostname: host,
    port: 0,
    fetch: (request) =>
      request.headers.has('authorization') || new URL(request.url).pathname !== '/ready'
        ? new Response('wrong request', { status: 400 })
        : Response.json({ status: 'unavailable', reasons: ['The database does not answer.'] }, { status: 503 }),
  });
  const url = `http://${host}:${unready.port}`;
  const refused = await run('health', '--ready', '--url', url);
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toStartWith(`${url}/ready answered 503: {"status":"unavailable"`);
  await unready.stop(true);
  const silent = await run('health', '--url', url);
  expect(silent).toMatchObject({ code: 1, out: '' });
  expect(silent.err).toStartWith(`${url}/health did not answer: `);
  expect((await run('health', 'list', '--json')).code).toBe(0);
});

test('accounts, top-up and balance', async () => {
  const made = await run('accounts', 'create', 'shop', '--json');
  expect(JSON.parse(made.out)).toMatchObject({ name: 'shop', available: '0' });
  expect((await run('accounts', 'create', 'shop')).err).toBe('An account "shop" already exists.');
  expect((await run('top-up', 'shop', '5.00', '--note', 'first')).out).toBe('account  shop\nadded    5\nbalance  5');
  expect((await run('top-up', 'shop', '0.25')).code).toBe(0);
  expect((await run('balance')).out).toBe(
    'ACCOUNT  AVAILABLE  HELD\ndefault          0     0\nshop          5.25     0',
  );
  expect(JSON.parse((await run('balance', 'shop', '--json')).out)).toEqual([
    { account: 'shop', available: '5.25', held: '0' },
  ]);
  expect((await run('accounts', 'list')).out.split('\n').length).toBe(3);
  const verified = await run('ledger', 'verify', '--json');
  expect([verified.code, JSON.parse(verified.out)]).toEqual([
    0,
    {
      ok: true,
      accounts: 2,
      entries: 2,
      holds: 0,
      'entries read': 2,
      'calls read': 0,
      cash: '-5.25',
      faults: [],
      notes: [],
    },
  ]);
});

test('refund, adjust, codes and recompute change and check the balance', async () => {
  await run('accounts', 'create', 'shop');
  expect((await run('refund', 'shop', '2')).out).toBe('account  shop\nadded    2\nbalance  2');
  expect((await run('adjust', 'shop', '1')).err).toBe('Give a reason: --note TEXT.');
  expect((await run('adjust', 'shop', '--note', 'twice', '--', '-0.5')).out).toContain('balance  1.5');
  const topUp = ['top-up', 'shop', '1', '--idempotency-key', 'k'];
  for (let i = 0; i < 2; i++) expect((await run(...topUp)).out).toContain('balance  2.5');
  expect((await run('top-up', 'shop', '3', '--idempotency-key', 'k')).err).toContain('used for another entry');
  const { code } = JSON.parse((await run('codes', 'create', '4', '--json')).out);
  expect((await run('redeem', 'shop', code)).out).toContain('balance  6.5');
  expect((await run('codes', 'list')).out).toContain(code.slice(-4));
  const replayed = await run('ledger', 'replay', '--since', '2020-01-01');
  expect(replayed).toMatchObject({ code: 0, err: '' });
  expect(replayed.out).toContain('Every bill matches its usage and price.');
  expect((await run('ledger', 'replay')).err).toStartWith('Give a start time');
  expect((await run('ledger', 'verify')).code).toBe(0);
});

test('keys are created with limits, listed without secrets, rotated and disabled', async () => {
  await run('accounts', 'create', 'shop');
  const options = ['--models', 'alpha,beta', '--budget', '5', '--addresses', '10.0.0.0/8', '--concurrency', '2'];
  const made = JSON.parse((await run('keys', 'create', 'shop', 'laptop', ...options, '--json')).out);
  expect(made.key).toMatch(/^sk-[0-9A-Za-z]{48}$/);
  expect(await edge.store.keyById(made.id)).toMatchObject({
    models: ['alpha', 'beta'],
    budget: { total: 5_000_000_000n },
    addresses: ['10.0.0.0/8'],
    concurrency: 2,
  });
  const listed = await run('keys', 'list', '--account', 'shop');
  expect(listed.out).toContain(made.key.slice(-4));
  expect(listed.out).not.toContain(made.key);
  const rotated = JSON.parse((await run('keys', 'rotate', made.id, '--json')).out);
  expect(rotated.key).toStartWith('sk-');
  expect(rotated.key).not.toBe(made.key);
  expect((await run('keys', 'disable', made.id)).out).toMatch(/state +disabled/);
  expect((await run('keys', 'disable', 'key_nobodys')).code).toBe(1);
  const admin = JSON.parse((await run('keys', 'create', 'shop', 'boss', '--admin', '--json')).out);
  expect(admin.key).toStartWith('sk-admin-');
});

test('ledger repair shows its corrections, and makes them with --enter', async () => {
  await run('accounts', 'create', 'shop');
  await run('top-up', 'shop', '5.00');
  expect(await run('ledger', 'repair')).toMatchObject({ code: 0, out: 'The ledger has no faults.' });
  const file = new Database(join(edge.settings.dataDir, 'modelport.db'));
  file.run('PRAGMA busy_timeout = 10000');
  file.run("UPDATE accounts SET balance = balance + 1000000000 WHERE name = 'shop'");
  file.close();
  const preview = await run('ledger', 'repair');
  expect(preview.code).toBe(1);
  expect(preview.out).toMatch(/^balance of account acct_\w+: balance 6 USD -> 5 USD\n1 corrections to be made/);
  expect((await run('balance')).out).toContain('6');
  expect(await run('ledger', 'repair', '--enter')).toMatchObject({ code: 0 });
  expect((await run('balance')).out).toContain('5');
  expect((await run('audit')).out).toContain('ledger.repaired');
  expect((await run('ledger', 'verify')).code).toBe(0);
});

test('apply and models', async () => {
  const path = await writeForm(FORM);
  expect(JSON.parse((await run('apply', '-f', path, '--json')).out)).toMatchObject({
    'providers added': ['main'],
    'models added': ['alpha'],
  });
  const models = await run('models');
  expect(models.out).toContain('input 0.15, output 0.6');
  expect(models.out).toContain('main/alpha');
  const faulty = await writeForm({ models: [{ name: 'beta' }] });
  const refused = await run('apply', '-f', faulty);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('models[0].price is missing');
});

test('empty lists are reported as such', async () => {
  expect((await run('calls')).out).toBe('There are no calls yet.');
  await run('accounts', 'create', 'shop');
  expect((await run('keys', 'list', '--account', 'shop')).out).toBe('There are no keys yet.');
  expect((await run('models')).out).toBe('There are no models yet.');
  expect((await run('disputes', 'list')).out).toBe('No call is disputed.');
  expect((await run('calls', '--json')).out).toBe('[]');
});

test('migrate brings the database up to date, once; the ledger of an empty one is not verified', async () => {
  const store = () => openStore({ dataDir: folder });
  const missing = await runOver({ store }, 'migrate', '--check');
  expect(missing.code).toBe(2);
  expect(missing.out).toMatch(/^The database has schema version 0; this Modelport has \d+\. Missing steps:/);
  expect(missing.out).toContain('    CREATE TABLE accounts\n');
  for (const words of [['verify'], ['repair'], ['replay', '--since', '2027-01-31']]) {
    const refused = await runOver({ store }, 'ledger', ...words);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('This database is empty') });
  }
  expect((await runOver({ store }, 'migrate')).out).toBe('The database is up to date now.');
  expect(await runOver({ store }, 'migrate', '--check')).toMatchObject({ code: 0, out: 'The database is up to date.' });
  expect((await runOver({ store }, 'migrate')).out).toBe('The database was up to date.');
});

test('doctor shows settings, database and providers, without secrets', async () => {
  const empty = await runOver({ store: () => openStore({ dataDir: folder }) }, 'doctor');
  expect(empty.code).toBe(1);
  expect(empty.out).toContain('not migrated: run "modelport migrate"');
  await run('apply', '-f', await writeForm(FORM));
  const well = await run('doctor');
  expect(well.code).toBe(0);
  expect(well.out).toMatch(/PORT +8080/);
  expect(well.out).toMatch(/MODELPORT_ADMIN_KEY +…abcd/);
  expect(well.out).toMatch(/main +openai +…1234 +ok/);
  for (const secret of ['0123456789abcd', 'secret-abcdefgh']) expect(well.out).not.toContain(secret);
  const probe = () => Promise.resolve<Probed>({ credential: 'missing', answers: false });
  const ill = await runOver({ probe }, 'doctor', '--json');
  expect(ill.code).toBe(1);
  expect(JSON.parse(ill.out)).toMatchObject({
    healthy: false,
    database: 'ready',
    providers: [{ name: 'main', state: 'its credential is missing; its address does not answer' }],
  });
});

test('doctor --live exits with 1 if anything that it tried is a problem', async () => {
  await run('apply', '-f', await writeForm(FORM));
  const well = await run('doctor', '--live');
  expect(well.code).toBe(0);
  expect(well.out).toMatch(/disk +ok +enough/);
  const tested: string[] = [];
  const liveChecks: CliDeps['liveChecks'] = async (providers) => {
    tested.push(...providers.map(({ name }) => name));
    return [{ check: 'Redis', ok: false, state: 'not reachable' }];
  };
  const ill = await runOver({ liveChecks }, 'doctor', '--live', '--json');
  expect(ill.code).toBe(1);
  const live = [{ check: 'Redis', ok: false, state: 'not reachable' }];
  expect(JSON.parse(ill.out)).toMatchObject({ healthy: false, version: '1.2.3', database: 'ready', live });
  expect(tested).toEqual(['main']);
  expect((await runOver({ liveChecks }, 'doctor')).code).toBe(0);
});

test('doctor reports a database that cannot be reached', async () => {
  const store = () => Promise.reject(new Error('the disk is full'));
  const { code, out } = await runOver({ store }, 'doctor');
  expect(code).toBe(1);
  expect(out).toContain('not reachable: the disk is full');
});

test('keys and accounts are limited, disabled and removed, and everything is in the audit log', async () => {
  await run('accounts', 'create', 'shop', '--budget-month', '5', '--concurrency', '9');
  const made = JSON.parse((await run('keys', 'create', 'shop', 'k', '--scopes', 'chat,models', '--json')).out);
  const keys = async (...argv: string[]) => (await run('keys', ...argv)).code;
  expect(
    await keys(
      'update',
      made.id,
      '--budget',
      '2.50',
      '--budget-day',
      '1',
      '--scopes',
      'none',
      '--expires',
      '2100-01-01',
    ),
  ).toBe(0);
  const { store } = edge;
  expect(await store.keyById(made.id)).toMatchObject({ budget: { total: 2_500_000_000n, day: 1_000_000_000n } });
  expect(await store.keyById(made.id)).not.toHaveProperty('scopes');
  expect(await store.account('shop')).toMatchObject({ budget: { month: 5_000_000_000n }, concurrency: 9 });
  expect(await keys('update', made.id, '--budget', 'none')).toBe(0);
  expect(await store.keyById(made.id)).not.toHaveProperty('budget');
  expect((await run('keys', 'rotate', made.id, '--grace', '60')).out).toContain('sk-');
  expect(await store.keyById(made.id)).toHaveProperty('priorUntil');
  for (const [words, state] of [
    [['keys', 'disable', made.id], 'disabled'],
    [['keys', 'enable', made.id], 'active'],
    [['accounts', 'disable', 'shop'], 'disabled'],
    [['accounts', 'enable', 'shop'], 'active'],
  ] as const) {
    expect((await run(...words)).out).toContain(state);
  }
  expect(await keys('delete', made.id)).toBe(0);
  expect(await store.keyById(made.id)).toBeUndefined();
  expect((await run('accounts', 'update', 'shop', '--tokens-per-minute', 'none')).code).toBe(0);
  const audit = JSON.parse((await run('audit', '--subject', made.id, '--json')).out);
  expect(audit.map(({ action }: { action: string }) => action)).toEqual([
    'key.removed',
    'key.enabled',
    'key.disabled',
    'key.rotated',
    'key.changed',
    'key.changed',
    'key.created',
  ]);
  expect((await run('audit')).out).not.toContain(made.key);
});

test.each([
  [
    ['keys', 'update', 'k', '--scopes', 'chat,all'],
    '"all" is not a scope: use chat, embeddings, images, audio, video, rerank, models, balance.',
  ],
  [
    ['keys', 'update', 'k', '--addresses', 'here'],
    '"here" is not an address: write an address or a range such as 10.0.0.0/8.',
  ],
  [['keys', 'update', 'k'], 'There is no key with the id "k". "modelport keys list" lists them.'],
  [['keys', 'rotate', 'k', '--grace', 'long'], '--grace must be a number of seconds.'],
  [['accounts', 'update', 'nobody', '--budget', 'much'], '--budget must be an amount in USD such as 5.00.'],
])('%j is refused with an error', async (argv, sentence) => {
  expect(await run(...argv)).toEqual({ code: 1, out: '', err: sentence });
});

test('secrets rotate reports how many providers were re-encrypted', async () => {
  expect(JSON.parse((await run('secrets', 'rotate', '--json')).out)).toEqual({
    'providers re-encrypted': 2,
    'key of': 'MODELPORT_SECRET_KEY',
  });
  const [recorded] = JSON.parse((await run('audit', '--limit', '1', '--json')).out);
  expect(recorded).toMatchObject({ action: 'secrets.rotated', after: '{"from":"MODELPORT_SECRET_KEY","providers":2}' });
});

test('calls --follow prints each call once, also one that began before others', async () => {
  const record = (id: string, at: number, more: Partial<CallRow> = {}) => {
    const call = callRow({ id, at, account: edge.account, ...more });
    return edge.store.ledger([{ type: 'resolve', callId: id, amount: 0n, call }]);
  };
  const now = Date.now();
  await record('call_1', now - 3000);
  await record('call_2', now - 2000, { outcome: 'failed', errorCode: 'upstream_failed', status: 502 });
  const turns = [
    () => record('call_4', now),
    () => record('call_3', now - 2 * 3_600_000, { model: 'n' }),
    () => Promise.resolve([]),
  ];
  let turn = 0;
  const wait = async (ms: number) => {
    expect(ms).toBeGreaterThan(0);
    await turns[turn]?.();
    return turn++ < turns.length;
  };
  const { code, err, out } = await runOver({ wait }, 'calls', '--follow', '--limit', '1', '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out.split('\n').map((line) => JSON.parse(line).id)).toEqual(['call_2', 'call_4', 'call_3']);
  const lines = (await runOver({}, 'calls', '--follow', '--outcome', 'failed')).out;
  expect(lines).toContain('  502  failed (upstream_failed)  m  p  5 ms  0 USD  call_2');
  expect(lines).not.toContain('call_1');
  const ofModel = await run('calls', '--model', 'n', '--from', new Date(now - 3 * 3_600_000).toISOString(), '--json');
  expect(JSON.parse(ofModel.out)).toMatchObject([{ id: 'call_3' }]);
  const some = async (...filters: string[]) => JSON.parse((await run('calls', '--json', ...filters)).out).length;
  expect(await some('--status', '502', '--error', 'upstream_failed', '--provider', 'p')).toBe(1);
  expect(await some('--tag', 'none')).toBe(0);
  expect(await some('--key', 'key_1', '--cost-above', '0.5')).toBe(0);
  expect((await run('calls', '--cost-above', 'much')).err).toContain('"cost_above" must be an amount');
});
