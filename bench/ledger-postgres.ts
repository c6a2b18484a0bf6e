/**
 * Measures the ledger on Postgres: node bin/bun.mjs bench/ledger-postgres.ts [--callers 32] [--accounts 1,8] [--calls] [--rounds 9]
 * [--window 300] [--pause 0]. Windows with one batch at a time and with two alternate. Callers hold in a loop, with `--calls` they settle
 * too. It starts a Postgres with durable commits in the temporary folder. On a busy machine, `chrt -r 1` before the command and `--pause 400`
 * give it the processors for each window.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createLedger } from '../src/ledger/prepaid-ledger.ts';
import { callRecord, loadHold, openAccount } from '../src/ledger/random-load.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { freePort } from '../test/helpers/free-port.ts';
import { spentBy } from './processes.ts';
import { startStores } from './shared-stores.ts';
import { median } from './statistics.ts';

const { values } = parseArgs({
  options: {
    callers: { type: 'string', default: '32' },
    accounts: { type: 'string', default: '1,8' },
    calls: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '9' },
    window: { type: 'string', default: '300' },
    pause: { type: 'string', default: '0' },
  },
});
const callers = Number(values.callers);
const windowMs = Number(values.window);
const WARM_ROUNDS = 2;
const CREDIT = 10n ** 15n;
const HELD = 1000n;
const COST = 500n;

/** Of one window; the times are processor time in microseconds for each hold or call. */
interface Figures {
  perSecond: number;
  gateway: number;
  server: number;
  steps: number;
  batchMs: number;
}

interface Variant {
  name: string;
  window(): Promise<Figures>;
  seen: Figures[];
}

let calls = 0;

async function openVariant(store: Store, postmaster: number, accounts: number, isAlone: boolean): Promise<Variant> {
  const name = `${accounts} accounts, ${isAlone ? 'one batch at a time' : 'two batches'}`;
  const batches: { steps: number; ms: number }[] = [];
  const ledger = createLedger({
    store: isAlone ? { ...store, batchesAtOnce: 1 } : store,
    owner: name,
    now: Date.now,
    batchDone: (steps, ms) => void batches.push({ steps, ms }),
  });
  const ids = Array.from({ length: accounts }, (_, index) => `acc_${accounts}_${isAlone}_${index}`);
  for (const id of ids) await openAccount({ store, ledger }, CREDIT, id);

  async function call(account: string): Promise<void> {
    const of = { account, key: `key_${account}` };
    const callId = `call_${++calls}`;
    const hold = await ledger.hold(loadHold(callId, HELD, { ...of, sentAt: Date.now(), checkpoint: 10n }));
    if (values.calls) await ledger.settle(hold, callRecord(callId, COST, of));
  }

  async function window(): Promise<Figures> {
    batches.length = 0;
    let made = 0;
    const server = spentBy(postmaster);
    const cpu = process.cpuUsage();
    const began = performance.now();
    await Promise.all(
      Array.from({ length: callers }, async (_, index) => {
        for (; performance.now() < began + windowMs; made++) await call(ids[index % accounts]!);
      }),
    );
    const seconds = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    return {
      perSecond: made / seconds,
      gateway: (user + system) / made,
      server: (spentBy(postmaster) - server) / made,
      steps: median(batches.map(({ steps }) => steps)),
      batchMs: median(batches.map(({ ms }) => ms)),
    };
  }
  return { name, window, seen: [] };
}

const folder = mkdtempSync(join(tmpdir(), 'modelport-bench-'));
const stores = await startStores(folder, '127.0.0.1', { postgres: await freePort(), redis: await freePort() });
try {
  const postmaster = Number.parseInt(readFileSync(join(folder, 'postgres', 'data', 'postmaster.pid'), 'utf8'), 10);
  const store = await openStore({ dataDir: '', databaseUrl: stores.databaseUrl });
  await store.migrate();
  const variants: Variant[] = [];
  for (const accounts of values.accounts.split(',').map(Number)) {
    for (const isAlone of [true, false]) variants.push(await openVariant(store, postmaster, accounts, isAlone));
  }
  for (let round = -WARM_ROUNDS; round < Number(values.rounds); round++) {
    for (const { window, seen } of variants) {
      await Bun.sleep(Number(values.pause));
      const figures = await window();
      if (round >= 0) seen.push(figures);
    }
  }
  console.log(`${callers} callers, medians of ${values.rounds} windows of ${windowMs} ms`);
  for (const { name, seen } of variants) {
    const of = (figure: keyof Figures, digits = 0) => median(seen.map((one) => one[figure])).toFixed(digits);
    const best = Math.max(...seen.map(({ perSecond }) => perSecond)).toFixed();
    console.log(
      `${name}: ${of('perSecond')} ${values.calls ? 'calls' : 'holds'}/s (at most ${best}), gateway ${of('gateway', 1)} µs, Postgres ${of('server', 1)} µs, ${of('steps')} steps in ${of('batchMs', 2)} ms`,
    );
  }
  console.log(
    `load ${loadavg()
      .map((one) => one.toFixed(1))
      .join(' ')}`,
  );
  await store.close();
} finally {
  await stores.stop();
  rmSync(folder, { recursive: true, force: true });
}
