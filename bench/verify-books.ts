/**
 * Measures `ledger verify` with millions of calls: npm run bench:books -- --calls 5000000 [--engine sqlite|postgres] [--url postgres://…]
 * [--folder DIR]
 */
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createVerifier } from '../src/ledger/verifier.ts';
import { openStore } from '../src/store/open-store.ts';
import { makeBooks } from './make-books.ts';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '5000000' },
    accounts: { type: 'string', default: '200' },
    days: { type: 'string', default: '30' },
    engine: { type: 'string', default: 'sqlite' },
    url: { type: 'string' },
    folder: { type: 'string' },
  },
});

const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'modelport-books-'));
const marker = join(folder, `made-${values.engine}-${values.calls}`);
const databaseUrl = values.engine === 'postgres' ? values.url : undefined;
if (values.engine === 'postgres' && !databaseUrl) throw new Error('Name a database: --url postgres://…');
mkdirSync(folder, { recursive: true });
const place = { dataDir: folder, databaseUrl };

if (!existsSync(marker)) {
  const began = performance.now();
  const [calls, accounts, days] = [values.calls, values.accounts, values.days].map(Number) as [number, number, number];
  const until = Date.parse('2026-11-20T00:00:00Z');
  await makeBooks({ ...place, calls, accounts, keysEach: 1, days, until });
  await Bun.write(marker, '');
  console.log(`${values.calls} calls made in ${seconds(performance.now() - began)}; they lie in ${folder}`);
}

const store = await openStore(place);
await store.migrate();
const verifier = createVerifier({
  store,
  owner: `bench ${process.pid}`,
  key: () => 'a key of the bench, and of nothing else',
  now: Date.now,
  reportError: console.error,
});

await measure('from the first entry', true);
await measure('again', false);
await measure('once more', false);
await store.close();

async function measure(name: string, full: boolean): Promise<void> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const { ok, accounts, entries, read, faults } = await verifier.verify({ full });
  const { user, system } = process.cpuUsage(cpu);
  const ms = performance.now() - began;
  console.log(
    `${name}: ${seconds(ms)}, of this process's processor time ${seconds((user + system) / 1000)}; ok ${ok}, ${accounts} accounts, ${entries} entries; read ${read.entries} entries and ${read.calls} calls`,
  );
  for (const fault of faults.slice(0, 3)) console.log(`  ${fault}`);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
