/** Thousands of calls over targets that are slow, flap and die, by a clock of the test's own. */
import { describe, expect, test } from 'bun:test';
import { randomFrom } from '../../test/helpers/random-numbers.ts';
import type { Call } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Strategy } from './order.ts';
import type { RoutedModel, RoutedTarget } from './routed.ts';
import { createRouting } from './routing.ts';

const START = 1_000_000;
/** Promises between an event and what waits for it. */
const HOPS = 8;

/** A clock that runs from event to event. */
class Clock {
  now = START;
  private readonly events = new Map<number, (() => void)[]>();

  at(time: number, run: () => void): void {
    const due = Math.max(Math.ceil(time), this.now);
    const list = this.events.get(due);
    if (list) list.push(run);
    else this.events.set(due, [run]);
  }

  async run(until: number): Promise<void> {
    for (; this.now <= until; this.now++) {
      const due = this.events.get(this.now);
      if (!due) continue;
      // What an event adds for the same moment is run, too.
      for (const run of due) {
        run();
        // What waited for it goes on before the clock does.
        for (let hop = 0; hop < HOPS; hop++) await undefined;
      }
      this.events.delete(this.now);
    }
  }
}

/** What a target does with a call that it is sent at `ms` after the start: the time until its first token, or until it fails. */
type Behaviour = (ms: number) => { ms: number; fails?: GatewayError };

interface Simulated {
  answered: number;
  failed: number;
  attempts: number;
  /** When each call began, after the start, and how long it took until its first token. */
  times: { at: number; ms: number }[];
  /** First attempts by target, and the calls that it answered. */
  first: { [id: string]: number };
  answers: { [id: string]: number };
  /** Most calls at once by target, and all it was sent, from a time on. */
  sent: { id: string; at: number }[];
  most: { [id: string]: number };
}

const target = (id: string, priority = 0): RoutedTarget => ({
  id,
  provider: id,
  credentials: ['k'],
  priority,
  weight: 1,
});

const down = () => new GatewayError('upstream_failed', 'No.', { cause: { status: 503 } });

interface Scene {
  targets: RoutedTarget[];
  strategy?: Strategy;
  behaviours: { [id: string]: Behaviour };
  perSecond: number;
  seconds: number;
  /** How long an answer goes on after its first token. */
  streamMs?: number;
}

async function simulate(scene: Scene): Promise<Simulated> {
  const { targets, strategy = 'weighted', behaviours, perSecond, seconds, streamMs = 200 } = scene;
  const clock = new Clock();
  const random = randomFrom(1);
  const routing = createRouting<RoutedTarget>({ now: () => clock.now });
  const model: RoutedModel<RoutedTarget> = { name: 'm', targets, strategy, affinity: false };
  const call = { kind: 'chat', stream: true, model: 'm' } as Call;
  const seen: Simulated = {
    answered: 0,
    failed: 0,
    attempts: 0,
    times: [],
    first: {},
    answers: {},
    sent: [],
    most: {},
  };
  const inside: { [id: string]: number } = {};

  async function one(): Promise<void> {
    const began = clock.now;
    try {
      const route = routing.route(model, { call, account: 'a', tokens: 100, random });
      const trial = routing.trial(
        { model, route, call, account: 'a', tokens: 100 },
        {
          random,
          leftMs: () => 60_000 - (clock.now - began),
          pause: (ms) => ({ over: after(ms), stop: () => {} }),
          hasEnded: () => false,
        },
      );
      let tries = 0;
      for (let next = await trial.next(); next; next = await trial.next()) {
        const { id } = next.target;
        seen.attempts++;
        if (tries++ === 0) seen.first[id] = (seen.first[id] ?? 0) + 1;
        seen.sent.push({ id, at: clock.now - START });
        inside[id] = (inside[id] ?? 0) + 1;
        seen.most[id] = Math.max(seen.most[id] ?? 0, inside[id]);
        const { ms, fails } = behaviours[id]!(clock.now - START);
        const limit = next.limitMs ?? Number.POSITIVE_INFINITY;
        await after(Math.min(ms, limit));
        inside[id]--;
        if (fails || ms > limit) {
          trial.failed(next, fails ?? new GatewayError('upstream_timeout', 'Late.'));
          continue;
        }
        next.answered();
        seen.answered++;
        seen.answers[id] = (seen.answers[id] ?? 0) + 1;
        seen.times.push({ at: began - START, ms: clock.now - began });
        await after(streamMs);
        next.ended(undefined, 50, 150);
        return;
      }
      seen.failed++;
    } catch {
      seen.failed++;
    }
  }

  function after(ms: number): Promise<void> {
    return new Promise((resolve) => clock.at(clock.now + ms, resolve));
  }

  for (let i = 0; i < perSecond * seconds; i++) clock.at(START + (i * 1000) / perSecond, () => void one());
  await clock.run(START + (seconds + 60) * 1000);
  return seen;
}

/** Of the calls that began after `from`. */
function percentile(times: Simulated['times'], share: number, from = 0): number {
  const all = times.flatMap(({ at, ms }) => (at >= from ? ms : [])).toSorted((a, b) => a - b);
  return all[Math.floor(all.length * share)]!;
}

const steady =
  (ms: number): Behaviour =>
  () => ({ ms });

describe('1,000 calls a second over five targets: two are healthy, one is slow, one flaps, one fails', () => {
  const behaviours: { [id: string]: Behaviour } = {
    well: steady(100),
    good: steady(120),
    slow: steady(1500),
    flaps: (ms) => (Math.floor(ms / 3000) % 2 === 1 ? { ms: 50, fails: down() } : { ms: 100 }),
    dies: (ms) => (ms > 4000 ? { ms: 5, fails: down() } : { ms: 110 }),
  };
  const SECONDS = 9;
  const CALLS = 1000 * SECONDS;
  /** From here on every target has answered: before, nothing is known of the slow one. */
  const KNOWN = 2000;

  async function run(strategy: Strategy): Promise<Simulated> {
    const targets = Object.keys(behaviours).map((id) => target(id));
    const seen = await simulate({ targets, strategy, behaviours, perSecond: 1000, seconds: SECONDS });
    expect([seen.answered, seen.failed]).toEqual([CALLS, 0]);
    // Attempts that the targets in trouble cost: no more than 2 %.
    expect(seen.attempts - CALLS).toBeLessThan(0.02 * CALLS);
    if (process.env.SHOW_FIGURES) {
      const p99 = percentile(seen.times, 0.99, KNOWN);
      const { first, answers } = seen;
      const extra = seen.attempts - CALLS;
      console.log(strategy, { p50: percentile(seen.times, 0.5), p99, extra, first, share: shares(answers) });
    }
    return seen;
  }

  /** The part of the calls that each target answered. */
  const shares = (answers: Simulated['answers']) =>
    Object.fromEntries(Object.keys(behaviours).map((id) => [id, (answers[id] ?? 0) / CALLS]));

  test('`weighted` answers every call; one in four waits for the slow one', async () => {
    const seen = await run('weighted');
    expect(percentile(seen.times, 0.99, KNOWN)).toBeGreaterThanOrEqual(1500);
    // Those that are well have equal shares; what flaps and what dies answer less.
    const { well = 0, good = 0, slow = 0, flaps = 0, dies = 0 } = shares(seen.answers);
    expect(Math.abs(well - good)).toBeLessThan(0.05);
    for (const share of [well, good, slow]) expect(share).toBeGreaterThan(0.2);
    for (const share of [flaps, dies]) expect(share).toBeLessThan(well);
  });

  test('`latency` avoids the slow one', async () => {
    const seen = await run('latency');
    expect(percentile(seen.times, 0.99, KNOWN)).toBeLessThan(300);
    expect(seen.first.slow ?? 0).toBeLessThan(0.02 * CALLS);
    const { well = 0, good = 0 } = shares(seen.answers);
    expect(well + good).toBeGreaterThan(0.6);
  });
});

test('100 calls a second at a primary that answers 503 after 250 ms: one call at a time once it is open', async () => {
  const seen = await simulate({
    targets: [target('sick'), target('spare', 1)],
    behaviours: { sick: () => ({ ms: 250, fails: down() }), spare: steady(50) },
    perSecond: 100,
    seconds: 10,
  });
  expect(seen.answered).toBe(1000);
  const sent = seen.sent.filter(({ id }) => id === 'sick').map(({ at }) => at);
  // The calls of the first quarter of a second, before anything was known; then the probes.
  const probes = sent.filter((at) => at > 500);
  if (process.env.SHOW_FIGURES) console.log('sick primary', { sent: sent.length, probes });
  expect(sent.length - probes.length).toBeLessThanOrEqual(31);
  expect(probes.length).toBeLessThanOrEqual(4);
});

for (const outage of [25_000, 40_000, 75_000]) {
  test(`an outage of ${outage / 1000} s at one call a second: the primary is back within 10 s, and no call fails`, async () => {
    const seen = await simulate({
      targets: [target('main'), target('spare', 1)],
      behaviours: { main: (ms) => (ms < outage ? { ms: 10, fails: down() } : { ms: 100 }), spare: steady(100) },
      perSecond: 1,
      seconds: outage / 1000 + 30,
    });
    expect(seen.failed).toBe(0);
    const back = seen.sent.find(({ id, at }) => id === 'main' && at >= outage)!.at - outage;
    const last = seen.sent.filter(({ id }) => id === 'spare').at(-1)!.at - outage;
    if (process.env.SHOW_FIGURES) console.log('outage', outage, { back, last });
    expect(back).toBeLessThanOrEqual(10_000);
    expect(last).toBeLessThanOrEqual(10_000);
  });
}

test('a first target that does not answer: replies from the second within the limit, then at once', async () => {
  const seen = await simulate({
    targets: [target('mute'), target('spare', 1)],
    behaviours: { mute: steady(600_000), spare: steady(100) },
    perSecond: 1,
    seconds: 60,
  });
  expect(seen.failed).toBe(0);
  expect(Math.max(...seen.times.map(({ ms }) => ms))).toBeLessThanOrEqual(30_100);
  // From the fifth failure on it is tried by one call at a time.
  expect(percentile(seen.times, 0.5, 36_000)).toBeLessThan(200);
});

test('with one target left, "open" means one call at a time, not none', async () => {
  const seen = await simulate({
    targets: [target('only')],
    behaviours: { only: (ms) => (ms < 5000 ? { ms: 100, fails: down() } : { ms: 100 }) },
    perSecond: 50,
    seconds: 15,
  });
  const during = seen.sent.filter(({ at }) => at > 1500 && at < 5000);
  expect(during.length).toBeGreaterThan(5);
  // One at a time, 100 ms each: never more than ten a second.
  expect(during.length).toBeLessThanOrEqual(36);
  const after = seen.sent.filter(({ at }) => at > 6000);
  expect(after.length).toBeGreaterThanOrEqual(8.9 * 50);
});

describe('conversations of an agent: 100 of them, 12 turns each, over three equal targets', () => {
  /** The share of input tokens that a target has seen the turn before, and how many calls failed. */
  function agents(affinity: boolean, dead?: string): { cached: number; failed: number } {
    let now = START;
    const random = randomFrom(3);
    const routing = createRouting<RoutedTarget>({ now: () => now });
    const targets = ['a', 'b', 'c'].map((id) => target(id));
    const model: RoutedModel<RoutedTarget> = { name: 'm', targets, strategy: 'weighted', affinity };
    const known = new Map<string, number>();
    let [cached, input, failed] = [0, 0, 0];
    for (let turn = 1; turn <= 12; turn++) {
      for (let session = 0; session < 100; session++) {
        now += 50;
        const call = { kind: 'chat', stream: true, model: 'm', cacheKey: `s${session}` } as Call;
        const tokens = 1000 * turn;
        const route = routing.route(model, { call, account: 'x', tokens, random });
        const options = {
          random,
          leftMs: () => 60_000,
          pause: () => ({ over: Promise.resolve(), stop() {} }),
          hasEnded: () => false,
        };
        const trial = routing.trial({ model, route, call, account: 'x', tokens }, options);
        let isAnswered = false;
        for (let next = trial.next(); next && !(next instanceof Promise); next = trial.next()) {
          if (next.target.id === dead && turn > 6) {
            trial.failed(next, down());
            continue;
          }
          next.answered();
          next.ended(undefined, 100, tokens + 100);
          const place = `${next.target.id} ${session}`;
          input += tokens;
          cached += known.get(place) ?? 0;
          known.set(place, tokens);
          isAnswered = true;
          break;
        }
        if (!isAnswered) failed++;
      }
    }
    return { cached: cached / input, failed };
  }

  test('affinity raises the share of cached tokens', () => {
    const [on, off] = [agents(true), agents(false)];
    if (process.env.SHOW_FIGURES) console.log('cached share', { on: on.cached, off: off.cached });
    expect(on.cached).toBeGreaterThan(0.8);
    expect(off.cached).toBeLessThan(0.65);
  });

  test('a target that fails keeps no conversation', () => {
    const { cached, failed } = agents(true, 'b');
    expect(failed).toBe(0);
    expect(cached).toBeGreaterThan(0.7);
  });
});
