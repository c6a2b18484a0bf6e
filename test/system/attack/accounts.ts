/** Accounts, keys and prices of a storm, changed during the storm; and the sums that they must have. */
import { nanoOf } from '../../helpers/scene.ts';
import type { Bill, Rates } from './bills.ts';
import type { Cluster } from './cluster.ts';
import { CREDENTIAL } from './lying-provider.ts';
import { type Draw, MODELS, MOST_OUTPUT, type Policy } from './plan.ts';
import { openVideos } from './videos.ts';

/** A key with its account and its maximum spending. */
export interface Caller {
  account: string;
  id: string;
  key: string;
  budget?: bigint;
  /** Calls per minute. */
  perMinute?: number;
}

/**
 * USD per million tokens: the input price is so high that a bill's input can be derived from it; the output price is not a whole number of
 * nano-USD per token.
 */
const PRICES: { [policy in Policy]: { input: number; output: number } } = {
  abort: { input: 1, output: 0.0015 },
  drain: { input: 1.2, output: 0.0025 },
};
/** Fewer than a round requests. */
const PER_MINUTE = 8;
/** An image costs more than any text of a storm. */
const IMAGE_PRICE = { input: 1.1, perImage: 0.000_002 };
const PICO_PER_USD_A_MILLION = 1_000_000;
const NANO_PER_USD = 1_000_000_000n;

const usd = (nano: bigint): string => `${nano / NANO_PER_USD}.${String(nano % NANO_PER_USD).padStart(9, '0')}`;

export type Accounts = Awaited<ReturnType<typeof openAccounts>>;

export async function openAccounts(cluster: Cluster, upstreamUrl: string, draw: Draw) {
  const toppedUp = new Map<string, bigint>();
  const callers: Caller[] = [];
  /** Callers whose keys were disabled. */
  const former: Caller[] = [];
  let names = 0;
  const anyone = () => cluster.gateways[draw(cluster.gateways.length)]!;

  /** Repeats until it is answered: the process may be dead or disconnected. */
  async function request<T>(
    method: string,
    path: string,
    body: unknown,
    headers: { [name: string]: string } = {},
  ): Promise<T> {
    for (const end = Date.now() + 40_000; ; ) {
      const { url, adminKey } = anyone();
      const answer = await fetch(`${url}/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(10_000),
      }).catch(() => undefined);
      const text = await answer?.text().catch(() => undefined);
      if (answer?.ok && text !== undefined) return JSON.parse(text) as T;
      if (Date.now() > end || (answer && answer.status < 500))
        throw new Error(`${method} ${path}: ${answer?.status} ${text}`);
      await Bun.sleep(100);
    }
  }

  const topUp = async (account: string, nano: bigint, times: number) => {
    const headers = { 'idempotency-key': `storm-${++names}` };
    const body = { amount: usd(nano), note: 'storm' };
    await Promise.all(
      Array.from({ length: times }, () => request('POST', `/accounts/${account}/top-ups`, body, headers)),
    );
    toppedUp.set(account, (toppedUp.get(account) ?? 0n) + nano);
  };

  /** Of all keys that ever had a limit. */
  const perMinuteOf = new Map<string, number>();

  async function newCaller(account: string, budget?: bigint, perMinute?: number): Promise<Caller> {
    const total = budget !== undefined && { budget: usd(budget) };
    const { id, key } = await request<{ id: string; key: string }>('POST', '/keys', {
      account,
      name: 'storm',
      ...total,
      ...(perMinute !== undefined && { requestsPerMinute: perMinute }),
    });
    if (perMinute !== undefined) perMinuteOf.set(id, perMinute);
    return {
      account,
      id,
      key,
      ...(budget !== undefined && { budget }),
      ...(perMinute !== undefined && { perMinute }),
    };
  }

  const setPrice = (policy: Policy, more: number) =>
    request('POST', '/models', {
      name: MODELS[policy],
      kind: 'chat',
      price: { input: (PRICES[policy].input + more).toFixed(2), output: PRICES[policy].output },
      maxOutputTokens: MOST_OUTPUT,
      onDisconnect: policy,
      targets: [{ provider: 'storm', model: 'm' }],
    });

  const provider = {
    name: 'storm',
    type: 'openai-compatible',
    baseUrl: `${upstreamUrl}/storm/v1`,
    credential: CREDENTIAL,
  };
  await request('POST', '/providers', provider);
  for (const policy of ['abort', 'drain'] as const) await setPrice(policy, 0);
  const target = { targets: [{ provider: 'storm', model: 'm' }] };
  await request('POST', '/models', { name: MODELS.image, kind: 'image', price: IMAGE_PRICE, ...target });
  await openVideos(request, upstreamUrl);
  // One account with enough money, one that runs out repeatedly, one whose keys have budgets.
  for (const [name, nano] of [
    ['rich', 20n * NANO_PER_USD],
    ['poor', 5_000_000n],
    ['bounded', 20n * NANO_PER_USD],
  ] as const) {
    const { id } = await request<{ id: string }>('POST', '/accounts', { name: `storm-${name}` });
    await topUp(id, nano, 1);
    for (let key = 0; key < 3; key++) callers.push(await newCaller(id, name === 'bounded' ? 12_000_000n : undefined));
  }
  // One with a rate limit, if Redis counts for all processes.
  const { id: paced } = await request<{ id: string }>('POST', '/accounts', { name: 'storm-paced' });
  await topUp(paced, 20n * NANO_PER_USD, 1);
  callers.push(await newCaller(paced, undefined, cluster.hasRedis ? PER_MINUTE : undefined));

  /** Changes that admins make during a storm. */
  async function change(): Promise<void> {
    const place = draw(callers.length);
    const { account, id, budget, perMinute } = callers[place]!;
    const kind = draw(4);
    if (kind === 0) await topUp(account, BigInt(1_000_000 + draw(5_000_000)), 1 + draw(2));
    else if (kind === 1 && budget !== undefined) {
      const raised = budget + BigInt(draw(5_000_000));
      await request('PATCH', `/keys/${id}`, { budget: usd(raised) });
      callers[place]!.budget = raised;
    } else if (kind === 2) {
      const next = await newCaller(account, budget, perMinute);
      callers[place] = next;
      former.push({ account, id, key: '', ...(budget !== undefined && { budget }) });
      await request('POST', `/keys/${id}/disable`, {});
    } else await setPrice(draw(2) === 0 ? 'abort' : 'drain', draw(50) / 100);
  }
  async function pages<T>(path: string): Promise<T[]> {
    const all: T[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const after: string = next === '' ? '' : `&after=${encodeURIComponent(next)}`;
      const page: { data: T[]; next: string | null } = await request(
        'GET',
        `${path}${path.includes('?') ? '&' : '?'}limit=1000${after}`,
        undefined,
      );
      all.push(...page.data);
      next = page.next;
    }
    return all;
  }

  async function bills(): Promise<Bill[]> {
    const rows = await pages<Omit<Bill, 'cost'> & { cost: string }>('/calls');
    return rows.map((row) => ({ ...row, cost: nanoOf(row.cost) }));
  }

  async function rates(): Promise<Map<string, Rates>> {
    const lists = Object.values(MODELS).map((model) => pages<PriceView>(`/prices?model=${model}`));
    const versions = (await Promise.all(lists)).flat();
    const pico = (price: unknown) => BigInt(Math.round(Number(price) * PICO_PER_USD_A_MILLION));
    return new Map(
      versions.map(({ id, price }) => [
        id,
        { input: pico(price.input), output: pico(price.output ?? 0), image: pico(price.perImage ?? 0) * 1_000_000n },
      ]),
    );
  }

  /** Compares balances, spending and entries with the recorded calls. Returns the differences as sentences. */
  async function faults(all: readonly Bill[], beyondHolds: ReadonlyMap<Bill, bigint>): Promise<string[]> {
    const beyond = (bills: readonly Bill[]) => sum(bills.map((bill) => ({ cost: beyondHolds.get(bill) ?? 0n })));
    const found: string[] = [];
    const late = new Map<string, bigint>();
    for (const [account, credit] of toppedUp) {
      const { available, held } = await request<{ available: string; held: string }>(
        'GET',
        `/accounts/${account}`,
        undefined,
      );
      const own = all.filter((bill) => bill.account === account);
      const due = credit - sum(own);
      const entries = await pages<EntryView>(`/accounts/${account}/entries`);
      for (const [key, amount] of completions(entries, own)) late.set(key, (late.get(key) ?? 0n) + amount);
      if (held !== '0') found.push(`${held} are held of ${account}`);
      if (nanoOf(available) !== due) found.push(`${account} has ${nanoOf(available)}, not ${due}`);
      if (due + sum([...completions(entries, own).values()].map((cost) => ({ cost }))) + beyond(own) < 0n)
        found.push(`${account} was let below zero: ${due}`);
      found.push(...entryFaults(entries, own));
    }
    for (const { id, budget } of [...callers, ...former]) {
      const { spent } = await request<{ spent: { total: string } }>('GET', `/keys/${id}`, undefined);
      const own = all.filter((bill) => bill.key === id);
      const cost = sum(own);
      if (nanoOf(spent.total) !== cost) found.push(`${id} has spent ${spent.total}, its calls cost ${cost}`);
      if (budget !== undefined && cost > budget + (late.get(id) ?? 0n) + beyond(own))
        found.push(`${id} has spent ${cost} of ${budget}`);
    }
    return found;
  }

  return { callers, perMinuteOf, change, bills, rates, faults };
}

const sum = (of: readonly { cost: bigint }[]): bigint => of.reduce((total, { cost }) => total + cost, 0n);

interface PriceView {
  id: string;
  price: { input: unknown; output?: unknown; perImage?: unknown };
}

interface EntryView {
  kind: string;
  callId?: string;
  amount: string;
}

/** Each call has one charge and at most one correction, and together they are its cost. */
function entryFaults(entries: readonly EntryView[], bills: readonly Bill[]): string[] {
  const costs = new Map(bills.map(({ id, cost }) => [id, cost]));
  const of = Map.groupBy(
    entries.filter(({ callId }) => callId !== undefined),
    ({ callId }) => callId!,
  );
  return [...of].flatMap(([id, own]) => {
    const kinds = own
      .map(({ kind }) => kind)
      .sort()
      .join();
    const sum = own.reduce((total, { amount }) => total - nanoOf(amount), 0n);
    const isRight = sum === costs.get(id) && ['charge', 'charge,completion', 'completion'].includes(kinds);
    return isRight ? [] : [`${id} has the entries ${kinds} of ${sum}, and costs ${costs.get(id)}`];
  });
}

/** By key: what final settlements charged beyond a lower provisional settlement, without a hold. */
function completions(entries: readonly EntryView[], bills: readonly Bill[]): Map<string, bigint> {
  const keys = new Map(bills.map(({ id, key }) => [id, key]));
  const late = new Map<string, bigint>();
  for (const { kind, callId = '', amount } of entries) {
    const key = keys.get(callId) ?? '';
    const more = -nanoOf(amount);
    if (kind === 'completion' && more > 0n) late.set(key, (late.get(key) ?? 0n) + more);
  }
  return late;
}
