/** Laws of a call's way from target to target, over random models, states and failures. */
import { expect, test } from 'bun:test';
import { fc } from '../../test/helpers/property.ts';
import type { Call } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import { STRATEGIES } from './order.ts';
import { DEFAULT_RETRIES } from './retry.ts';
import type { RoutedModel, RoutedTarget } from './routed.ts';
import { createRouting, type Routing } from './routing.ts';

const START = 1_000_000;

const failed = (status: number) => new GatewayError('upstream_failed', 'No.', { cause: { status } });
/** What a target does with one attempt. */
const OUTCOMES = {
  answer: undefined,
  '503': failed(503),
  'a connection that is lost': new GatewayError('upstream_failed', 'Lost.', { unanswered: true }),
  'no first token': new GatewayError('upstream_timeout', 'Late.'),
  'a rate limit': new GatewayError('rate_limited', 'Slow.', { retryAfterSeconds: 1 }),
  'a refused credential': new GatewayError('upstream_failed', 'Who?', { credentialRefused: true }),
} as const;
type Outcome = keyof typeof OUTCOMES;
const FAILURES = Object.keys(OUTCOMES).filter((one): one is Exclude<Outcome, 'answer'> => one !== 'answer');

const anyTarget = fc.record({
  priority: fc.integer({ min: 0, max: 2 }),
  weight: fc.constantFrom(0, 1, 1, 5),
  credentials: fc.integer({ min: 1, max: 3 }),
  hasTools: fc.constantFrom(true, true, true, false),
});
const anyScene = fc.record({
  targets: fc.array(anyTarget, { minLength: 1, maxLength: 5 }),
  strategy: fc.constantFrom(...STRATEGIES),
  retries: fc.constantFrom(undefined, undefined, 0, 1, 3),
  affinity: fc.boolean(),
  /** What the attempts of earlier calls, and of the one that is looked at, come to. */
  earlier: fc.array(fc.constantFrom<Outcome>('answer', ...FAILURES), { maxLength: 30 }),
  passed: fc.constantFrom(0, 500, 3000, 60_000),
  outcomes: fc.array(fc.constantFrom(...FAILURES), { minLength: 1, maxLength: 12 }),
  /** After so many failures a target answers; undefined: none does. */
  answersAfter: fc.option(fc.nat(6), { nil: undefined }),
  seed: fc.nat(),
});
type Scene = typeof anyScene extends fc.Arbitrary<infer S> ? S : never;

interface Tried {
  readonly id: string;
  readonly credential: string | undefined;
  readonly outcome: Outcome;
}

interface Walked {
  readonly model: RoutedModel<RoutedTarget>;
  /** Where the call could go, in order; `undefined`: it was refused at once. */
  readonly admitted: readonly string[] | undefined;
  readonly tried: readonly Tried[];
}

class World {
  now = START;
  readonly routing: Routing<RoutedTarget>;
  readonly model: RoutedModel<RoutedTarget>;
  private state: number;

  constructor({ targets, strategy, retries, affinity, seed }: Scene) {
    this.state = seed;
    this.routing = createRouting<RoutedTarget>({ now: () => this.now });
    const all = targets.map(({ priority, weight, credentials, hasTools }, i) => ({
      id: `t${i}`,
      provider: `p${i}`,
      credentials: Array.from({ length: credentials }, (_, place) => `k${place}`),
      priority,
      weight,
      capabilities: { tools: hasTools },
    }));
    all.sort((a, b) => a.priority - b.priority);
    this.model = { name: 'm', targets: all, strategy, affinity, ...(retries !== undefined && { retries }) };
  }

  /** One call with tools. `outcomeOf`: of its attempt with this number. */
  async call(outcomeOf: (attempt: number) => Outcome): Promise<Walked> {
    const call = {
      kind: 'chat',
      stream: true,
      model: 'm',
      messages: [],
      tools: [{}],
      cacheKey: 's',
    } as unknown as Call;
    const routeOptions = { call, account: 'a', tokens: 100, random: () => this.random(), costAt: () => 1 };
    const tried: Tried[] = [];
    let admitted: readonly string[] | undefined;
    try {
      const route = this.routing.route(this.model, routeOptions);
      admitted = route.targets.map(({ id }) => id);
      const options = {
        random: () => this.random(),
        leftMs: () => 600_000,
        pause: (ms: number) => {
          this.now += Math.ceil(ms);
          return { over: Promise.resolve(), stop() {} };
        },
        hasEnded: () => false,
      };
      const trial = this.routing.trial({ model: this.model, route, call, account: 'a', tokens: 100 }, options);
      for (let next = await trial.next(); next; next = await trial.next()) {
        const outcome = outcomeOf(tried.length);
        tried.push({ id: next.target.id, credential: next.credential, outcome });
        this.now += 10;
        const error = OUTCOMES[outcome];
        if (error) {
          trial.failed(next, error);
          continue;
        }
        next.answered();
        next.ended(undefined, 10, 110);
        break;
      }
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(GatewayError);
    }
    return { model: this.model, admitted, tried };
  }

  private random(): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.state / 4_294_967_296;
  }
}

/** A call after others, in any state that they leave behind. */
async function walked(scene: Scene): Promise<Walked> {
  const world = new World(scene);
  const earlier = [...scene.earlier];
  while (earlier.length > 0) {
    const { admitted, tried } = await world.call(() => earlier.shift() ?? 'answer');
    world.now += 200;
    if (!admitted || tried.length === 0) earlier.shift();
  }
  world.now += scene.passed;
  const { outcomes, answersAfter } = scene;
  return world.call((i) =>
    answersAfter !== undefined && i >= answersAfter ? 'answer' : outcomes[i % outcomes.length]!,
  );
}

const law = (check: (walked: Walked, scene: Scene) => void) =>
  fc.assert(
    fc.asyncProperty(anyScene, async (scene) => check(await walked(scene), scene)),
    { numRuns: 300 },
  );

test('a target is tried once with each credential, and more often by retries alone', () =>
  law(({ model, tried }, { retries = DEFAULT_RETRIES }) => {
    for (const { id, credentials } of model.targets) {
      const own = tried.filter((one) => one.id === id);
      expect(own.length).toBeLessThanOrEqual(credentials.length * (1 + retries));
      for (const credential of credentials)
        expect(own.filter((one) => one.credential === credential).length).toBeLessThanOrEqual(1 + retries);
    }
  }));

test('no target is left and tried again later', () =>
  law(({ tried }) => {
    const runs = tried.flatMap(({ id }, i) => (tried[i - 1]?.id === id ? [] : [id]));
    expect(new Set(runs).size).toBe(runs.length);
  }));

test('without retries and with one credential each, no target is tried twice', () =>
  fc.assert(
    fc.asyncProperty(anyScene, async (scene) => {
      const targets = scene.targets.map((one) => ({ ...one, credentials: 1 }));
      const { tried } = await walked({ ...scene, targets, retries: 0 });
      expect(new Set(tried.map(({ id }) => id)).size).toBe(tried.length);
    }),
    { numRuns: 300 },
  ));

test('only targets that can serve the call are tried, each of them admitted', () =>
  law(({ model, admitted = [], tried }) => {
    const able = model.targets.filter(({ capabilities }) => capabilities?.tools !== false).map(({ id }) => id);
    for (const { id } of tried) expect(able).toContain(id);
    for (const { id } of tried) expect(admitted).toContain(id);
  }));

test('every admitted target is reached if all before it fail', () =>
  law(({ admitted, tried }, { answersAfter }) => {
    if (!admitted || answersAfter !== undefined) return;
    expect([...new Set(tried.map(({ id }) => id))].toSorted()).toEqual(admitted.toSorted());
  }));

test('a call ends with the first answer', () =>
  law(({ tried }) => {
    const answer = tried.findIndex(({ outcome }) => outcome === 'answer');
    if (answer >= 0) expect(answer).toBe(tried.length - 1);
  }));

test('without samples the targets are tried in the order of the route, by priority', () =>
  fc.assert(
    fc.asyncProperty(anyScene, async (scene) => {
      const { model, admitted = [], tried } = await new World(scene).call(() => '503');
      const runs = tried.flatMap(({ id }, i) => (tried[i - 1]?.id === id ? [] : [id]));
      expect(runs).toEqual([...admitted]);
      const priorities = admitted.map((id) => model.targets.find((one) => one.id === id)!.priority);
      expect(priorities).toEqual(priorities.toSorted((a, b) => a - b));
    }),
    { numRuns: 300 },
  ));
