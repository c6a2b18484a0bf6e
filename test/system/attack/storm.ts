/**
 * An attack on the ledger: four gateways on one database, clients that disconnect at any moment, providers with false reports, admin
 * changes, and two disasters in every round. After each round nothing is held, `ledger verify` has no faults, balances and spending add up,
 * and each bill is recomputed exactly from what the provider has sent (`bills.ts`); for chat, images, videos, and limits with Redis.
 * `MODELPORT_ATTACK_ROUNDS=8` is the full form, and `MODELPORT_ATTACK_SEED` repeats a run.
 */
import { expect } from 'bun:test';
import { type JournalEntry, type ScriptedUpstream, startScriptedUpstream } from '../../upstream/scripted-upstream.ts';
import { type Accounts, openAccounts } from './accounts.ts';
import { type Bill, beyondHolds, type CallResult, faultsOf, limitFaults, type Rates } from './bills.ts';
import { type Cluster, COUNT, type Ending, OUTAGES, startCluster } from './cluster.ts';
import { send } from './leaving-client.ts';
import { answerTo, CREDENTIAL } from './lying-provider.ts';
import { createPlanner, type Plan } from './plan.ts';
import { createVideos, VIDEO_MODEL, type Videos } from './videos.ts';

interface Storm {
  cluster: Cluster;
  accounts: Accounts;
  planner: ReturnType<typeof createPlanner>;
  plans: Map<string, Plan>;
  results: Omit<CallResult, 'journal' | 'wasKilled' | 'stoppedMs'>[];
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
    await runRounds(engine);
  } catch (thrown) {
    throw new Error(`MODELPORT_ATTACK_SEED=${SEED} MODELPORT_ATTACK_ROUNDS=${ROUNDS}, on ${engine}`, { cause: thrown });
  }
}

async function runRounds(engine: 'SQLite' | 'Postgres'): Promise<void> {
  const planner = createPlanner(SEED, COUNT, CALLERS);
  const plans = new Map<string, Plan>();
  const upstream = await startScriptedUpstream();
  upstream.decide('/storm/', (request) => answerTo(plans.get(tagOf(request)) ?? planner.plan()));
  const cluster = await startCluster(engine);
  try {
    const accounts = await openAccounts(cluster, upstream.url, planner.draw);
    const videos = createVideos(cluster, upstream);
    const storm: Storm = { cluster, accounts, planner, plans, results: [], upstream, videos };
    for (let round = 0; round < ROUNDS; round++) await runRound(storm, round);
    await cluster.restart();
    await expectAgreement(storm, 'at the end');
    expect(cluster.log()).not.toContain(CREDENTIAL);
    expect(
      cluster
        .log()
        .split('\n')
        .filter((line) => /unhandled|uncaught/i.test(line)),
    ).toEqual([]);
  } finally {
    await cluster.close();
    await upstream.close();
  }
}

async function runRound(storm: Storm, round: number): Promise<void> {
  const { cluster, accounts, results, planner, videos } = storm;
  // Ordered before the outages, generated during them.
  await videos.order(accounts.callers[0]!.key);
  const end = performance.now() + STORM_MS;
  const before = results.length;
  let left = CALLS_A_ROUND;
  const worker = async () => {
    while (performance.now() < end && left-- > 0) await oneCall(storm);
  };
  const admin = async () => {
    while (performance.now() < end) {
      await accounts.change();
      await Bun.sleep(100 + planner.draw(400));
    }
  };
  const injecting = OUTAGES[round % OUTAGES.length]!.map(async (outage, index) => {
    await Bun.sleep(500 + index * 700 + planner.draw(500));
    await cluster.inject(outage);
  });
  await Promise.all([admin(), ...injecting, ...Array.from({ length: WORKERS }, worker)]);
  await expectAgreement(storm, `in round ${round + 1}`);
  expect(results.slice(before).filter(({ seen }) => seen.complete).length).toBeGreaterThanOrEqual(LEAST_COMPLETE);
}

async function oneCall({ cluster, accounts, planner, plans, results }: Storm): Promise<void> {
  const plan = planner.plan();
  const { id, key } = accounts.callers[plan.caller]!;
  plans.set(plan.tag, plan);
  const sentMs = performance.now();
  const seen = await send(cluster.gateways[plan.gateway]!.url, key, plan);
  const overMs = performance.now();
  expect(seen.text).not.toContain(CREDENTIAL);
  results.push({ plan, key: id, seen, sentMs, overMs });
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
  const { code, output } = await storm.cluster.verify();
  expect(code === 0 ? '' : output).toBe('');
}

async function disagreements({ cluster, accounts, results, upstream, videos }: Storm): Promise<string[]> {
  const bills = await accounts.bills();
  const rates = await accounts.rates();
  const ratesOf = (bill: Bill): Rates => rates.get(bill.priceId) ?? { input: 1n, output: 0n, image: 0n };
  const journal = Map.groupBy(upstream.journal('/storm/'), tagOf);
  const all = results.map((result) => {
    const isSince = ({ untilMs }: Ending) => untilMs >= result.sentMs;
    return {
      ...result,
      journal: journal.get(result.plan.tag) ?? [],
      wasKilled: cluster.kills(result.plan.gateway).some(isSince),
      stoppedMs: cluster.stops(result.plan.gateway).find(isSince)?.fromMs,
    };
  });
  const others = bills.filter(({ model }) => model !== VIDEO_MODEL);
  return [
    ...(await accounts.faults(bills, beyondHolds(others, all, ratesOf))),
    ...faultsOf(others, all, ratesOf),
    ...videos.faults(bills),
    ...limitFaults(all, accounts.perMinuteOf),
  ];
}

function tagOf({ body }: JournalEntry): string {
  return /<storm-\d+>/.exec(JSON.stringify(body))?.[0] ?? '';
}
