/** Every command with a running server, on both database engines. */
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINES } from '../../test/helpers/engines.ts';
import { CATALOGUE, type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { runAsProcess } from '../../test/helpers/run-as-process.ts';
import { startWebhookReceiver } from '../../test/helpers/webhook-receiver.ts';
import { callRecord, loadHold } from '../ledger/random-load.ts';
import type { CallRow } from '../store/rows.ts';

/** Makes a call whose provider claims 9000 tokens after 12 were delivered. */
async function disputedCall({ store, deps: { ledger } }: Loopback, account: string, id: string): Promise<void> {
  const price = { id: 'price_1', model: 'm', components: '{"input":1000,"output":1000}', createdAt: 1 };
  await store.savePrice(price);
  const claimed = { cost: '0.000009007', usage: { input: 7, output: 9000, source: 'reported' } } as const;
  const usage = { input: 7, output: 5, source: 'counted', claimed } as const;
  const hold = await ledger.hold({ ...loadHold(id, 100n), account });
  await ledger.settle(hold, { ...callRecord(id, 100n, { outcome: 'disputed', usage }), account } as CallRow);
}

describe.each(ENGINES)('$name', (engine) => {
  test('all commands that call a server work', async () => {
    const { settings } = await engine.emptyDatabase();
    const edge = await startLoopback(settings);
    const used = new Set<string>();
    const run = async (command: string, ...argv: string[]) => {
      used.add(command);
      const { code, out, err } = await runAsProcess(edge, {}, [...command.split(' '), ...argv, '--json']);
      expect({ command, err, code }).toEqual({ command, err: '', code: 0 });
      return JSON.parse(out);
    };
    const shop = await run('accounts create', 'a shop/1 %ü', '--concurrency', '3');
    const name: string = shop.name;
    expect(await run('accounts update', name, '--budget-day', '7')).toMatchObject({ id: shop.id, state: 'active' });
    expect(await edge.store.account(shop.id)).toMatchObject({ concurrency: 3, budget: { day: 7_000_000_000n } });
    expect((await run('accounts disable', shop.id)).state).toBe('disabled');
    expect((await run('accounts enable', shop.id)).state).toBe('active');
    expect(await run('accounts list')).toHaveLength(2);

    const moved = await run('top-up', name, '5', '--note', 'first', '--idempotency-key', 'once');
    expect(moved).toEqual({ account: name, added: '5', balance: '5' });
    expect(await run('top-up', name, '5', '--note', 'first', '--idempotency-key', 'once')).toEqual(moved);
    expect(await run('refund', name, '1')).toMatchObject({ balance: '6' });
    expect(await run('adjust', name, '--note', 'twice', '1.5')).toMatchObject({ balance: '7.5' });
    const { code } = await run('codes create', '2', '--expires', '2100-01-01', '--note', 'spring');
    expect(await run('redeem', name, code)).toEqual({ account: name, added: '2', balance: '9.5' });
    expect(await run('redeem', name, code)).toEqual({ account: name, added: '2', balance: '9.5' });
    expect(await run('codes list')).toMatchObject([{ amount: '2', by: shop.id, expires: '2100-01-01T00:00:00.000Z' }]);
    expect(await run('balance', name)).toEqual([{ account: name, available: '9.5', held: '0' }]);

    const { link } = await run('login-link');
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/#link=[\w-]{43}$/);

    const key = await run('keys create', name, 'laptop', '--expires', '2100-01-01', '--models', 'alpha');
    expect(key).toMatchObject({ account: name, name: 'laptop' });
    expect(await edge.store.keyById(key.id)).toMatchObject({ expiresAt: Date.parse('2100-01-01'), models: ['alpha'] });
    await run('keys update', key.id, '--expires', 'none', '--name', 'desk', '--aliases', 'x=alpha, y=gamma:8b');
    expect((await edge.store.keyById(key.id))?.aliases).toEqual({ x: 'alpha', y: 'gamma:8b' });
    await run('keys update', key.id, '--caller-routing', 'off');
    expect((await edge.store.keyById(key.id))?.callerRouting).toBe(false);
    await run('keys update', key.id, '--cache', 'on');
    expect((await edge.store.keyById(key.id))?.cacheSeconds).toBe(3600);
    await run('keys update', key.id, '--cache', 'none');
    expect(await edge.store.keyById(key.id)).not.toHaveProperty('cacheSeconds');
    await run('keys update', key.id, '--aliases', 'none', '--caller-routing', 'none');
    expect(await edge.store.keyById(key.id)).not.toHaveProperty('callerRouting');
    expect(await edge.store.keyById(key.id)).not.toHaveProperty('aliases');
    expect(await edge.store.keyById(key.id)).not.toHaveProperty('expiresAt');
    expect((await run('keys rotate', key.id, '--grace', '60')).key).not.toBe(key.key);
    expect((await run('keys disable', key.id)).state).toBe('disabled');
    expect((await run('keys enable', key.id)).state).toBe('active');
    expect(await run('keys list', '--account', name)).toMatchObject([{ id: key.id, name: 'desk', account: shop.id }]);
    expect(await run('keys delete', key.id)).toEqual({ id: key.id, removed: true });

    const path = join(tmpdir(), `modelport-every-${process.pid}.json`);
    writeFileSync(path, JSON.stringify(CATALOGUE));
    expect((await run('apply', '-f', path))['models added']).toEqual(['alpha', 'team/beta-2', 'gamma:8b']);
    expect(await run('models')).toHaveLength(3);
    const prices = { models: [], tools: [] };
    const priceFile = join(tmpdir(), `modelport-prices-${process.pid}.json`);
    const listed = { type: 'openai-compatible', model: 'alpha', kind: 'chat', price: { input: '0.3', output: '1.2' } };
    writeFileSync(
      priceFile,
      JSON.stringify({ ...prices, models: [{ ...listed, source: 'https://prices.test', asOf: '2026-11-01' }] }),
    );
    const shown = await run('prices diff', '--file', priceFile, '--days', '7');
    expect(shown).toMatchObject({ models: [{ model: 'alpha', after: { input: '0.3', output: '1.2' } }], equal: 0 });
    const [adopted] = await run(
      'prices adopt',
      '--file',
      priceFile,
      '--models',
      'alpha',
      '--from',
      '2100-01-01T00:00Z',
    );
    expect(adopted).toMatchObject({ model: 'alpha', from: '2100-01-01T00:00:00.000Z' });
    expect(await run('prices list', 'alpha')).toMatchObject([{}, { id: adopted.price, from: adopted.from }]);
    expect(await run('prices cancel', adopted.price)).toEqual({ id: adopted.price, removed: true });
    expect(await run('price-groups set', 'resellers', '1.20')).toMatchObject({ name: 'resellers', factor: '1.2' });
    await run('accounts update', name, '--price-group', 'resellers');
    expect(await edge.store.account(shop.id)).toMatchObject({ priceGroup: 'resellers', priceFactor: '1.2' });
    expect(await run('price-groups list')).toHaveLength(1);
    await run('accounts update', name, '--price-group', 'none');
    expect(await run('price-groups delete', 'resellers')).toEqual({ name: 'resellers', removed: true });
    expect(await run('explain', 'alpha', '--prompt', 'Hello')).toMatchObject({
      asked: 'alpha',
      models: [{ name: 'alpha', targets: [{ provider: 'main', model: 'alpha', format: 'openai-chat' }] }],
    });
    const target = 'main/team/beta-2';
    expect(await run('health cooldown', target, '--seconds', '600')).toMatchObject({ target, phase: 'open' });
    expect(await run('health reset', target)).toMatchObject({ target, phase: 'closed' });
    expect(await run('health list')).toHaveLength(3);
    expect((await run('explain', 'nothing', '--format', 'openai-chat')).error).toMatchObject({
      code: 'model_not_found',
    });
    // At once, not when the server next reloads.
    expect(edge.deps.catalog.find('team/beta-2')).toBeDefined();

    for (const [id, decision] of [
      ['call_1', 'accept'],
      ['call_2', 'reject'],
    ] as const) {
      await disputedCall(edge, shop.id, id);
      expect((await run('disputes list'))[0]).toMatchObject({ id, decision: 'open', claimed: '0.000009007' });
      expect(await run(`disputes ${decision}`, id)).toMatchObject({ call: id, account: shop.id });
      if (decision === 'accept') expect((await run('disputes list'))[0].decision).toBe('accept');
    }
    expect(await run('calls', '--account', name)).toHaveLength(2);
    const used30Days = await run('usage', '--by', 'model,day', '--tz', 'Asia/Tokyo', '--account', name);
    expect(used30Days).toMatchObject([{ model: 'm', calls: 2, 'output tokens': 10, margin: '' }]);
    expect(await run('usage', '--by', 'provider,tag', '--tag', 'none')).toEqual([]);
    expect(await run('usage', '--from', '2020-01-01', '--to', '2020-01-02')).toEqual([]);
    const hooks = startWebhookReceiver();
    await edge.admin('POST', '/alerts/channels', { name: 'ops', type: 'slack', url: hooks.url, rules: ['budget'] });
    expect(await run('alerts channels')).toMatchObject([
      { name: 'ops', type: 'slack', state: 'on', rules: ['budget'] },
    ]);
    expect(await run('alerts test', 'ops')).toEqual({ channel: 'ops', sent: true });
    expect(await run('alerts list', '--state', 'pending')).toEqual([]);
    await hooks.stop();
    expect(await run('secrets rotate')).toEqual({ 'providers re-encrypted': 2, 'key of': 'MODELPORT_SECRET_KEY' });

    const changes: { action: string; actor: string; after?: string }[] = await run('audit', '--limit', '100');
    const adminKey = (await edge.store.keys({ limit: 10 })).find(({ kind }) => kind === 'admin')?.id;
    for (const action of [
      'account.created',
      'account.topped-up',
      'account.redeemed',
      'code.created',
      'key.rotated',
      'call.dispute-accepted',
      'secrets.rotated',
    ])
      expect(changes.find((change) => change.action === action)).toMatchObject({ actor: adminKey! });
    expect(changes.find(({ action }) => action === 'model.created')?.actor).toMatch(
      new RegExp(`^file modelport-every-\\d+\\.json [0-9a-f]{8} by ${adminKey}$`),
    );

    const { out } = await runAsProcess(edge, {}, ['help']);
    const commands = [...out.matchAll(/^ {2}(\S+(?: \S+)?) {2,}/gm)].map(([, command = '']) => command);
    const local = [
      'init',
      'serve',
      'migrate',
      'doctor',
      'health',
      'ledger verify',
      'ledger repair',
      'ledger replay',
      'backup',
      'restore',
    ];
    expect(commands.filter((command) => !local.includes(command)).sort()).toEqual([...used].sort());
    const verified = await runAsProcess(edge, {}, ['ledger', 'verify']);
    expect(verified).toMatchObject({ code: 0, err: '' });
    await edge.stop();
  });
});
