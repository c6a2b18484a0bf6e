/** Makes a ledger of millions of calls in minutes: rows as the ledger would write them, inserted in bulk. */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { DAY_MS, HOUR_MS } from '../src/canonical/time.ts';
import { CHAIN_START, entryHash } from '../src/store/ledger/entry-hash.ts';
import { openStore } from '../src/store/open-store.ts';
import type { EntryRow } from '../src/store/rows.ts';
import { OVERVIEW_COLUMNS } from '../src/store/sums/overview-columns.ts';
import { OverviewSums } from '../src/store/sums/overview-sums.ts';

const MODELS = ['gpt-a', 'claude-b', 'gemini-c'];
/** One account has a fifth of all calls. */
const HOT_OF = 5;
const TOP_UP = 10n ** 15n;
/** Every so many calls, one that is not like the others, so that lists have something to find. */
const RARE = 100_000;
const BROKEN = 100;
const OTHER_PROVIDER = 50;
const TAGGED = 20;

export interface BooksAsked {
  dataDir: string;
  databaseUrl?: string | undefined;
  calls: number;
  accounts: number;
  keysEach: number;
  days: number;
  /** The time of the last call. */
  until: number;
}

/** The value of a column: text, an integer, or null. */
type Cell = string | number | bigint | null;
const ENTRY_COLUMNS = `account seq kind amount balance_after counter call_id note idempotency_key at hash`.split(' ');
const CALL_COLUMNS =
  `id account key at model provider target_model dialect upstream_dialect stream status outcome error_code attempts cost price_id usage duration_ms first_byte_ms entry_seq input_tokens output_tokens receipt`.split(
    ' ',
  );
const TAG_COLUMNS = ['tag', 'at', 'id'];
const SUM_COLUMNS = ['account', 'hour', 'key', 'model', 'calls', 'cost', 'input_tokens', 'output_tokens'];
const USAGE_COLUMNS =
  `account hour key model provider tag calls cost input_tokens output_tokens saved provider_cost costed_calls costed_charge`.split(
    ' ',
  );
const KEY_DAY_COLUMNS = ['day', 'account', 'key', 'calls', 'cost', 'tokens'];
const SPENDING_COLUMNS = ['key', 'held', 'total', 'day', 'day_spent', 'month', 'month_spent'];
const ACCOUNT_COLUMNS = ['id', 'name', 'balance', 'held', 'last_seq', 'last_hash', 'created_at', 'spent'];

/** A table that is written in batches. */
interface Bulk {
  open(table: string, columns: readonly string[]): (cells: readonly Cell[]) => void | Promise<void>;
  /** Writes the remaining rows of every table. */
  end(): Promise<void>;
}

export async function makeBooks(asked: BooksAsked): Promise<void> {
  const { dataDir, databaseUrl, calls, days, until } = asked;
  const store = await openStore({ dataDir, databaseUrl });
  await store.migrate();
  const from = until - days * DAY_MS;
  // Postgres needs partitions, which are created four days in advance.
  for (let at = from; at <= until + DAY_MS; at += DAY_MS) await store.tidy(at);
  await store.close();
  const bulk = databaseUrl === undefined ? sqliteBulk(join(dataDir, 'modelport.db')) : postgresBulk(databaseUrl);
  const books = createBooks(asked);
  const putEntry = bulk.open('entries', ENTRY_COLUMNS);
  const putCall = bulk.open('calls', CALL_COLUMNS);
  const putTag = bulk.open('call_tags', TAG_COLUMNS);
  for (const entry of books.topUps(from)) await putEntry(entryCells(entry));
  for (let number = 0; number < calls; number++) {
    const { entry, call, tag } = books.next(number, Math.floor(from + ((until - from) * number) / calls));
    const waitsForEntry = putEntry(entryCells(entry));
    if (waitsForEntry) await waitsForEntry;
    const waitsForCall = putCall(call);
    if (waitsForCall) await waitsForCall;
    if (tag) await putTag(tag);
  }
  const putSum = bulk.open('call_sums', SUM_COLUMNS);
  for (const cells of books.sums()) await putSum(cells);
  const putUsage = bulk.open('usage_sums', USAGE_COLUMNS);
  for (const cells of books.usage()) await putUsage(cells);
  const putOverview = bulk.open('overview_sums', OVERVIEW_COLUMNS.split(', '));
  for (const cells of books.overview()) await putOverview(cells);
  const putKeyDay = bulk.open('key_days', KEY_DAY_COLUMNS);
  for (const cells of books.keyDays()) await putKeyDay(cells);
  const putSpending = bulk.open('spendings', SPENDING_COLUMNS);
  for (const cells of books.spendings()) await putSpending(cells);
  const putAccount = bulk.open('accounts', ACCOUNT_COLUMNS);
  for (const cells of books.accounts(from)) await putAccount(cells);
  await bulk.end();
  // Merges old slots, as a running gateway does every hour.
  const made = await openStore({ dataDir, databaseUrl });
  await made.tidy(until);
  await made.close();
}

const entryCells = (e: EntryRow): Cell[] => [
  e.account,
  e.seq,
  e.kind,
  e.amount,
  e.balanceAfter,
  e.counter,
  e.callId ?? null,
  e.note ?? null,
  e.idempotencyKey ?? null,
  e.at,
  e.hash,
];

interface AccountState {
  id: string;
  balance: bigint;
  spent: bigint;
  lastSeq: number;
  lastHash: string;
}

interface SumState {
  account: string;
  hour: number;
  key: string;
  model: string;
  /** Sums by provider and tag; '': of all calls. */
  provider?: string;
  tag?: string;
  calls: number;
  cost: bigint;
  input: number;
  output: number;
}

function createBooks({ accounts: accountCount, keysEach }: BooksAsked) {
  const accounts: AccountState[] = Array.from({ length: accountCount }, (_, number) => ({
    id: `acct_${number.toString(36).padStart(16, '0')}`,
    balance: 0n,
    spent: 0n,
    lastSeq: 0,
    lastHash: CHAIN_START,
  }));
  const spent = new Map<string, bigint>();
  const sums: SumState[] = [];
  const usage: SumState[] = [];
  let hourSums = new Map<string, SumState>();
  let hourUsage = new Map<string, SumState>();
  let hourNow = -1;
  const overviews: OverviewSums[] = [];
  let overview = new OverviewSums();

  function enter(
    account: AccountState,
    line: Pick<EntryRow, 'kind' | 'amount' | 'counter' | 'at' | 'callId'>,
  ): EntryRow {
    account.balance += line.amount;
    account.lastSeq++;
    const { id, lastSeq: seq, balance: balanceAfter } = account;
    const entry: EntryRow = { account: id, seq, balanceAfter, hash: '', ...line };
    entry.hash = entryHash(account.lastHash, entry);
    account.lastHash = entry.hash;
    return entry;
  }

  type Counted = Pick<SumState, 'account' | 'key' | 'model' | 'cost' | 'input' | 'output'> & { at: number };

  function addTo(
    sums: Map<string, SumState>,
    place: string,
    of: Omit<SumState, 'calls' | 'cost' | 'input' | 'output'>,
    call: Counted,
  ) {
    let one = sums.get(place);
    if (!one) {
      one = { ...of, calls: 0, cost: 0n, input: 0, output: 0 };
      sums.set(place, one);
    }
    one.calls++;
    one.cost += call.cost;
    one.input += call.input;
    one.output += call.output;
  }

  function sum(call: Counted, provider: string, tag: string | undefined) {
    const { account, key, model, at, cost } = call;
    const hour = Math.floor(at / HOUR_MS);
    if (hour !== hourNow) {
      endHour();
      hourNow = hour;
      overview = new OverviewSums();
      overviews.push(overview);
    }
    const of = { account, hour, key, model };
    addTo(hourSums, key + model, of, call);
    for (const one of tag === undefined ? [''] : ['', tag])
      addTo(hourUsage, `${key} ${model} ${provider} ${one}`, { ...of, provider, tag: one }, call);
    spent.set(key, (spent.get(key) ?? 0n) + cost);
  }

  function endHour(): void {
    sums.push(...hourSums.values());
    usage.push(...hourUsage.values());
    hourSums = new Map();
    hourUsage = new Map();
  }

  return {
    topUps: (at: number) =>
      accounts.map((account) => enter(account, { kind: 'top-up', amount: TOP_UP, counter: 'cash', at })),

    next(number: number, at: number): { entry: EntryRow; call: Cell[]; tag?: Cell[] } {
      const account = accounts[number % HOT_OF === 0 ? 0 : number % accountCount] as AccountState;
      const key = `key_${account.id.slice(5)}${number % keysEach}`;
      const model = MODELS[number % MODELS.length] as string;
      const id = `req_${at.toString(36)}${number.toString(36).padStart(16, '0')}`;
      const input = 100 + (number % 900);
      const output = 10 + (number % 490);
      const cost = BigInt(input * 150 + output * 600);
      const durationMs = 400 + (number % 5000);
      account.spent += cost;
      const line = { kind: 'charge', amount: -cost, counter: 'revenue', at: at + durationMs, callId: id } as const;
      const entry = enter(account, line);
      const usage = `{"input":${input},"output":${output}}`;
      const provider = number % RARE === 7 ? 'rare' : number % OTHER_PROVIDER === 3 ? 'other' : 'main';
      const outcome = number % BROKEN === 9 ? 'broken' : 'ok';
      const ended = outcome === 'ok' ? [200, outcome, null] : [502, outcome, 'upstream_failed'];
      const tag = number % RARE === 11 ? 'rare' : number % TAGGED === 2 ? 'batch' : undefined;
      sum({ account: account.id, key, model, at, cost, input, output }, provider, tag);
      overview.add({ at, model, outcome, cost, durationMs, firstByteMs: 300, tokens: { input, output } });
      const head = [id, account.id, key, at, model, provider, model, 'openai-chat', 'openai-chat', 1, ...ended, 1];
      return {
        entry,
        ...(tag !== undefined && { tag: [tag, at, id] }),
        call: [...head, cost, 'price_1', usage, durationMs, 300, entry.seq, input, output, '[]'],
      };
    },

    *sums(): Generator<Cell[]> {
      endHour();
      for (const s of sums) yield [s.account, s.hour, s.key, s.model, s.calls, s.cost, s.input, s.output];
    },
    *usage(): Generator<Cell[]> {
      for (const s of usage)
        yield [
          s.account,
          s.hour,
          s.key,
          s.model,
          s.provider ?? '',
          s.tag ?? '',
          s.calls,
          s.cost,
          s.input,
          s.output,
          0,
          0,
          0,
          0,
        ];
    },
    *overview(): Generator<Cell[]> {
      for (const { sums } of overviews)
        for (const { slot, model, cost, saved, counts } of sums) yield [slot, '', model, cost, saved, ...counts];
    },
    *keyDays(): Generator<Cell[]> {
      const days = new Map<string, SumState>();
      for (const one of sums) {
        const day = Math.floor(one.hour / 24);
        const known = days.get(`${day} ${one.key}`);
        if (!known) days.set(`${day} ${one.key}`, { ...one, hour: day });
        else {
          known.calls += one.calls;
          known.cost += one.cost;
          known.input += one.input;
          known.output += one.output;
        }
      }
      for (const d of days.values()) yield [d.hour, d.account, d.key, d.calls, d.cost, d.input + d.output];
    },
    *spendings(): Generator<Cell[]> {
      for (const [key, total] of spent) yield [key, 0, total, 0, 0, 0, 0];
    },
    *accounts(at: number): Generator<Cell[]> {
      for (const { id, balance, lastSeq, lastHash, spent: charged } of accounts)
        yield [id, id, balance, 0, lastSeq, lastHash, at, charged];
    },
  };
}

const ROWS_A_COMMIT = 200_000;

function sqliteBulk(path: string): Bulk {
  const file = new Database(path);
  file.run('PRAGMA synchronous = OFF');
  file.run('PRAGMA cache_size = -400000');
  const indexes = file
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'calls' AND sql IS NOT NULL",
    )
    .all();
  for (const { name } of indexes) file.run(`DROP INDEX ${name}`);
  let rows = 0;
  file.run('BEGIN');
  return {
    open(table, columns) {
      const marks = columns.map(() => '?').join(', ');
      const insert = file.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`);
      return (cells) => {
        insert.run(...cells);
        if (++rows % ROWS_A_COMMIT === 0) file.run('COMMIT; BEGIN');
      };
    },
    async end() {
      for (const { sql } of indexes) file.run(sql);
      file.run('COMMIT');
      file.run('ANALYZE');
      file.run('PRAGMA wal_checkpoint(TRUNCATE)');
      file.close();
    },
  };
}

const COPIED_AT_ONCE = 1 << 20;

function postgresBulk(url: string): Bulk {
  const copies: { end(): Promise<void> }[] = [];
  return {
    open(table, columns) {
      const child = Bun.spawn(
        ['psql', '-q', '-v', 'ON_ERROR_STOP=1', url, '-c', `COPY ${table} (${columns.join(', ')}) FROM STDIN`],
        {
          stdin: 'pipe',
          stdout: 'ignore',
          stderr: 'inherit',
        },
      );
      let text = '';
      copies.push({
        async end() {
          child.stdin.write(text);
          await child.stdin.end();
          if ((await child.exited) !== 0) throw new Error(`psql could not copy ${table}`);
        },
      });
      return (cells) => {
        text += `${cells.map((cell) => (cell === null ? '\\N' : String(cell))).join('\t')}\n`;
        if (text.length < COPIED_AT_ONCE) return;
        child.stdin.write(text);
        text = '';
        return Promise.resolve(child.stdin.flush()).then(() => {});
      };
    },
    async end() {
      for (const copy of copies) await copy.end();
      const analyzed = Bun.spawn(['psql', '-q', url, '-c', 'VACUUM ANALYZE'], { stdout: 'ignore' });
      await analyzed.exited;
    },
  };
}
