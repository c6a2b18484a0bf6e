/**
 * An attack on the ledger: four gateways on one database, clients that disconnect at any moment, providers with false reports, admin
 * changes, and two disasters in every round. After each round nothing is held, `ledger verify` has no faults, balances and spending add up,
 * and each bill is recomputed exactly from what the provider has sent (`bills.ts`); for chat, images, videos, and limits with Redis.
 * `MODELPORT_ATTACK_ROUNDS=8` is the full form, and `MODELPORT_ATTACK_SEED` repeats a run.
 */
import { expect } from 'bun:test';
import { type JournalEntry, type ScriptedUpstream, startScriptedUpstream } from '../../upstream/scripted-upstream.ts';
import { type Bill, faultsOf, limitFaults, type Rates, type Told } from './bills.ts';
import { type Books, openBooks } from './books.ts';
import { COUNT, DISASTERS, type Field, openField } from './field.ts';
import { send } from './leaving-client.ts';
import { answerTo, CREDENTIAL } from './lying-provider.ts';
import { createPlanner, type Plan } from './plan.ts';
import { createVideos, VIDEO_MODEL, type Videos } from './videos.ts';

interface Storm {
  field: Field;
  books: Books;
  planner: ReturnType<typeof createPlanner>;
  plans: Map<string, Plan>;
  tolds: (Omit<Told, 'journal' | 'wasKilled' | 'wasStopped'> & { killsBefore: number; stopsBefore: number })[];
  upstream: ScriptedUpstream;
  videos: Videos;
}

export const ROUNDS = Number(process.env.MODELPORT_ATTACK_ROUNDS ?? 2);
const SEED = Number(process.env.MODELPORT_ATTACK_SEED ?? Date.now() % 1_000_000);

const WORKERS = 16;
const CALLS_A_ROUND = 160;
const STORM_MS = 5000;
const CALLERS = 10;
/** Time for leases to end (a video's after 30 s), streams to be read, and settlements and polls to be retried after growing delays. */
const AGREES_WITHIN_MS = 90_000;
/** The minimum of complete answers: a storm in which everything is refused tests nothing. */
const LEAST_COMPLETE = 5;

export async function storm(engine: 'SQLite' | 'Postgres'): Promise<void> {
  try {
    await blow(engine);
  } catch (thrown) {
    throw new Error(`MODELPORT_ATTACK_SEED=${SEED} MODELPORT_ATTACK_ROUNDS=${ROUNDS}, on ${engine}`, { cause: thrown });
  }
}

async function blow(engine: 'SQLite' | 'Postgres'): Promise<void> {
  const planner = createPlanner(SEED, COUNT, CALLERS);
  const plans = new Map<string, Plan>();
  const upstream = await startScriptedUpstream();
  upstream.decide('/storm/', (request) => answerTo(plans.get(tagOf(request)) ?? planner.plan()));
  const field = await openField(engine);
  try {
    const books = await openBooks(field, upstream.url, planner.draw);
    const videos = createVideos(field, upstream);
    const storm: Storm = { field, books, planner, plans, tolds: [], upstream, videos };
    for (let round = 0; round < ROUNDS; round++) await blowOnce(storm, round);
    await field.restart();
    await expectAgreement(storm, 'at the end');
    expect(field.log()).not.toContain(CREDENTIAL);
    expect(
      field
        .log()
        .split('\n')
        .filter((line) => /unhandled|uncaught/i.test(line)),
    ).toEqual([]);
  } finally {
    await field.close();
    await upstream.close();
  }
}

async function blowOnce(storm: Storm, round: number): Promise<void> {
  const { field, books, tolds, planner, videos } = storm;
  // Ordered before the disasters, generated during them.
  await videos.order(books.callers[0]!.key);
  const end = performance.now() + STORM_MS;
  const before = tolds.length;
  let left = CALLS_A_ROUND;
  const worker = async () => {
    while (performance.now() < end && left-- > 0) await oneCall(storm);
  };
  const admin = async () => {
    while (performance.now() < end) {
      await books.change();
      await Bun.sleep(100 + planner.draw(400));
    }
  };
  const befalling = DISASTERS[round % DISASTERS.length]!.map(async (disaster, index) => {
    await Bun.sleep(500 + index * 700 + planner.draw(500));
    await field.befall(disaster);
  });
  await Promise.all([admin(), ...befalling, ...Array.from({ length: WORKERS }, worker)]);
  await expectAgreement(storm, `in round ${round + 1}`);
  expect(tolds.slice(before).filter(({ seen }) => seen.complete).length).toBeGreaterThanOrEqual(LEAST_COMPLETE);
}

async function oneCall({ field, books, planner, plans, tolds }: Storm): Promise<void> {
  const plan = planner.plan();
  const { id, key } = books.callers[plan.caller]!;
  plans.set(plan.tag, plan);
  const before = { killsBefore: field.kills(plan.gateway), stopsBefore: field.stops(plan.gateway) };
  const sentMs = performance.now();
  const seen = await send(field.gateways[plan.gateway]!.url, key, plan);
  const overMs = performance.now();
  expect(seen.text).not.toContain(CREDENTIAL);
  tolds.push({ plan, key: id, seen, sentMs, overMs, ...before });
  if (seen.status !== 200 && !seen.left) await Bun.sleep(50);
}

/** Waits until every process has settled its holds, then compares the ledger with what happened. */
async function expectAgreement(storm: Storm, when: string): Promise<void> {
  let faults: string[] = [];
  for (const deadline = Date.now() + AGREES_WITHIN_MS; ; await Bun.sleep(250)) {
    faults = await disagreements(storm);
    if (faults.length === 0 || Date.now() > deadline) break;
  }
  expect({ when, faults: faults.slice(0, 5), more: Math.max(0, faults.length - 5) }).toEqual({
    when,
    faults: [],
    more: 0,
  });
  const { code, output } = await storm.field.verify();
  expect(code === 0 ? '' : output).toBe('');
}

async function disagreements({ field, books, tolds, upstream, videos }: Storm): Promise<string[]> {
  const bills = await books.bills();
  const rates = await books.rates();
  const ratesOf = (bill: Bill): Rates => rates.get(bill.priceId) ?? { input: 1n, output: 0n, image: 0n };
  const journal = Map.groupBy(upstream.journal('/storm/'), tagOf);
  const all = tolds.map(({ killsBefore, stopsBefore, ...told }) => ({
    ...told,
    journal: journal.get(told.plan.tag) ?? [],
    wasKilled: field.kills(told.plan.gateway) > killsBefore,
    wasStopped: field.stops(told.plan.gateway) > stopsBefore,
  }));
  const others = bills.filter(({ model }) => model !== VIDEO_MODEL);
  return [
    ...(await books.faults(bills)),
    ...faultsOf(others, all, ratesOf),
    ...videos.faults(bills),
    ...limitFaults(all, books.perMinuteOf),
  ];
}

function tagOf({ body }: JournalEntry): string {
  return /<storm-\d+>/.exec(JSON.stringify(body))?.[0] ?? '';
}
