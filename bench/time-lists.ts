/**
 * Times every list of calls and every report over a large ledger: npm run bench:lists -- --folder DIR [--engine postgres --url postgres://…]
 * [--rounds 3] [--cpu]. `npm run bench:books -- --folder DIR` makes it.
 */

import { parseArgs } from 'node:util';
import { DAY_MS } from '../src/canonical/time.ts';
import { openStore } from '../src/store/open-store.ts';
import type { CallFilter, CallPlace, UsageGroup } from '../src/store/rows.ts';
import type { Store } from '../src/store/store.ts';
import { spanOf } from '../src/store/sums/overview-slots.ts';
import { countOf } from '../src/store/sums/overview-sums.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    engine: { type: 'string', default: 'sqlite' },
    url: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    slowest: { type: 'string', default: '10' },
    cpu: { type: 'boolean', default: false },
  },
});
if (values.folder === undefined) throw new Error('Name the folder of the ledger: --folder DIR');

const PAGE = 100;
const EXAMINED = 5000;
type Filters = Omit<CallFilter, 'limit' | 'after'>;

const store = await openStore({
  dataDir: values.folder,
  databaseUrl: values.engine === 'postgres' ? values.url : undefined,
});
await store.migrate();
const [newest] = await store.calls({ limit: 1 });
if (!newest) throw new Error('There are no calls.');
const until = newest.at + 1;
const from = until - 30 * DAY_MS;
const accounts = (await store.accounts({ limit: 1000 })).map(({ id }) => id);

/** Of each filter common, rare and missing values. */
const CHOICES: readonly Filters[] = [
  { account: accounts[0]! },
  { account: accounts[1]! },
  { key: `key_${accounts[0]!.slice(5)}0` },
  { key: `key_${accounts[1]!.slice(5)}0` },
  { model: 'gpt-a' },
  { model: 'none' },
  { provider: 'main' },
  { provider: 'other' },
  { provider: 'rare' },
  { status: 200 },
  { status: 502 },
  { outcome: 'ok' },
  { outcome: 'broken' },
  { error: 'upstream_failed' },
  { error: 'none' },
  { tag: 'batch' },
  { tag: 'rare' },
  { costAbove: 100_000n },
  { costAbove: 448_000n },
  { from: from + 10 * DAY_MS, to: from + 11 * DAY_MS },
];

interface Timing {
  name: string;
  /** The median of all rounds. */
  ms: number;
  first: number;
}

const lists: Timing[] = [await time('no filter', () => pages({}))];
for (const [index, one] of CHOICES.entries()) {
  lists.push(await time(nameOf(one), () => pages(one)));
  for (const other of CHOICES.slice(index + 1)) {
    if (Object.keys(other)[0] === Object.keys(one)[0]) continue;
    const both = { ...one, ...other };
    lists.push(await time(nameOf(both), () => pages(both)));
  }
}
print(`${lists.length} lists of calls`, lists);

const REPORTS: readonly (readonly (UsageGroup | 'day')[])[] = [
  [],
  ['day'],
  ['model'],
  ['key'],
  ['account'],
  ['provider'],
  ['tag'],
  ['account', 'day'],
  ['provider', 'day'],
  ['provider', 'tag', 'day'],
];
const reports: Timing[] = [];
for (const groups of REPORTS) {
  const name = groups.join(', ') || 'total';
  reports.push(await time(name, () => report(store, groups)));
  reports.push(await time(`${name}, one account`, () => report(store, groups, accounts[1])));
}
print('reports of a month', reports);

const PERIODS = [
  ['1 hour', until - DAY_MS / 24],
  ['24 hours', until - DAY_MS],
  ['7 days', Math.floor(until / DAY_MS - 6) * DAY_MS],
  ['30 days', Math.floor(until / DAY_MS - 29) * DAY_MS],
  ['90 days', Math.floor(until / DAY_MS - 89) * DAY_MS],
] as const;
const overviews: Timing[] = [];
for (const [name, begins] of PERIODS) overviews.push(await time(`overview of ${name}`, () => overview(begins)));
print('overviews', overviews);
await store.close();

/** What one request reads of a list, on its first page, and on the one after it. */
async function pages(filter: Filters): Promise<number[]> {
  const times: number[] = [];
  let after: CallPlace | undefined;
  for (let page = 0; page < 2; page++) {
    const clock = start();
    const { next } = await store.callPage({ ...filter, limit: PAGE, ...(after !== undefined && { after }) }, EXAMINED);
    times.push(clock());
    if (next === undefined) break;
    after = next;
  }
  return times;
}

async function report(of: Store, groups: readonly (UsageGroup | 'day')[], account?: string): Promise<number[]> {
  const clock = start();
  const periods = groups.includes('day')
    ? Array.from({ length: 29 }, (_, day) => from + (day + 1) * DAY_MS)
    : undefined;
  const groupBy = groups.filter((group) => group !== 'day');
  await of.usage({ from, to: until, groupBy, periods, account });
  return [clock()];
}

/** What one request for the overview reads. */
async function overview(begins: number): Promise<number[]> {
  const clock = start();
  const span = spanOf(begins, until, until);
  const [{ models }] = await Promise.all([store.overview(span, 6), store.heldSum()]);
  await store.topSpenders(
    span,
    6,
    models.reduce((sum, { figures }) => sum + countOf(figures, 'calls'), 0),
  );
  return [clock()];
}

/** Milliseconds since: elapsed, or with `--cpu` of the processor, of all threads. On a busy machine only the latter says something. */
function start(): () => number {
  const [began, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    return values.cpu ? (user + system) / 1000 : performance.now() - began;
  };
}

/** `work` returns the times of its requests, of which the longest counts. */
async function time(name: string, work: () => Promise<number[]>): Promise<Timing> {
  const times: number[] = [];
  for (let round = 0; round < Number(values.rounds); round++) times.push(Math.max(...(await work())));
  return { name, first: times[0]!, ms: times.toSorted((a, b) => a - b)[times.length >> 1]! };
}

function print(title: string, timings: readonly Timing[]): void {
  const sorted = timings.toSorted((a, b) => b.ms - a.ms);
  const at = (share: number) => sorted[Math.floor((1 - share) * (sorted.length - 1))]!.ms.toFixed(1);
  console.log(`${title}: median ${at(0.5)} ms, 95th percentile ${at(0.95)} ms, slowest ${at(1)} ms`);
  for (const { name, ms, first } of sorted.slice(0, Number(values.slowest)))
    console.log(`  ${ms.toFixed(1)} ms (first ${first.toFixed(1)} ms): ${name}`);
}

function nameOf(filter: Filters): string {
  return Object.entries(filter)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
