/**
 * For tests: a complete call in one process. Database, ledger, catalogue and access are real; transport and clock are controlled by the
 * test.
 */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Caller, createAccess } from '../../src/access/access.ts';
import { issueKey } from '../../src/access/key.ts';
import type { Load } from '../../src/access/work-bounds.ts';
import type { Call } from '../../src/canonical/call.ts';
import { newId } from '../../src/canonical/id.ts';
import { PlacedSet } from '../../src/canonical/placed-set.ts';
import { applyCatalogue } from '../../src/catalog/apply.ts';
import { createCatalog } from '../../src/catalog/catalog.ts';
import { createMemory } from '../../src/conversations/conversations.ts';
import type { Dialect, ProviderDialect, WireRequest } from '../../src/dialects/dialect.ts';
import { dialectNamed, providerDialectNamed } from '../../src/dialects/index.ts';
import { createSigning } from '../../src/gateway/attempt/tokens.ts';
import type { CallContext, PendingCall } from '../../src/gateway/call-context.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import type { GatewayDeps, GatewaySettings } from '../../src/gateway/gateway-deps.ts';
import { createGateway } from '../../src/gateway/serve.ts';
import type { Answer, ByteSink } from '../../src/http1/answer.ts';
import { createLedger } from '../../src/ledger/prepaid-ledger.ts';
import { providerOf } from '../../src/providers/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { CallRow, KeyRow } from '../../src/store/rows.ts';
import type { Store } from '../../src/store/store.ts';
import { CallTrace, createEvents } from '../../src/telemetry/events.ts';
import { createGuardedFetch } from '../../src/transport/guarded-fetch.ts';
import { createFakeTransport, type FakeTransport } from './fake-transport.ts';
import { whenGone } from './postgres.ts';

/** USD per million tokens: an input token costs 1000 nano-USD, an output token 4000. */
export const PRICE = { input: 1, cachedInput: 0.5, output: 4 };
const NOON = Date.UTC(2026, 4, 5, 12);
const TEN_USD = 10_000_000_000n;

export const SETTINGS: GatewaySettings = {
  showProvider: true,
  limits: { connectMs: 30_000, headersMs: 60_000, firstTokenMs: 90_000, silenceMs: 120_000, wholeMs: 600_000 },
  keepAliveMs: 60_000,
  drainAfterDisconnectMs: 60_000,
  maxRequestBytes: 1_000_000,
  maxReplyBytes: 1_000_000,
  maxImages: 4,
  unpricedExtras: 'refuse',
  maxMediaBytes: 1_000_000,
};

export interface CaseSetup {
  /** The number of targets, in order. */
  targets?: number;
  /** The number of credentials per provider. */
  credentials?: number;
  type?: string;
  /** Other members of the rows of the providers. */
  provider?: { [member: string]: unknown };
  /** Other members of the model's row. */
  model?: { [member: string]: unknown };
  /** Other members of the key's row. */
  key?: Partial<KeyRow>;
  /** In nano-USD. */
  balance?: bigint;
  settings?: Partial<GatewaySettings>;
  deps?: Partial<GatewayDeps>;
}

/** A client that waits until it disconnects. */
export class FakeClient {
  hasLeft = false;
  onLeave: (() => void) | undefined;

  leave(): void {
    this.hasLeft = true;
    this.onLeave?.();
  }
}

/** Receives a stream. */
export class FakeSink implements ByteSink {
  text = '';
  /** Its answer to every write. */
  takes = true;
  /** `ended`: complete; `failed`: incomplete. */
  readonly over: Promise<'ended' | 'failed'>;
  end!: (bytes?: Uint8Array) => void;
  fail!: () => void;

  constructor() {
    this.over = new Promise((resolve) => {
      this.end = (bytes = new Uint8Array()) => {
        this.text += Buffer.from(bytes).toString();
        resolve('ended');
      };
      this.fail = () => resolve('failed');
    });
  }

  write(bytes: Uint8Array): boolean {
    this.text += Buffer.from(bytes).toString();
    return this.takes;
  }
}

/** One model, one caller, and the gateway with its transport. */
export interface GatewayCase {
  readonly model: string;
  readonly caller: Caller;
  readonly deps: GatewayDeps;
  readonly gateway: Gateway;
  readonly transport: FakeTransport;
  readonly client: FakeClient;
  /** Recorded calls in order. */
  readonly calls: CallRow[];
  readonly troubles: string[];
  /** Loads that were not returned, and forms that were not released. */
  readonly loads: Set<Load>;
  readonly underWay: PlacedSet<CallContext>;
  readonly unreleased: () => number;
  /** Advances the wall clock. */
  turn(ms: number): void;
  /** A call in this format, read from its body. */
  pendingCall(body: object, dialect?: string, headers?: { [name: string]: string }): PendingCall;
  /** Sends this body through the whole gateway. */
  serve(
    body: object,
    more?: { key?: string; headers?: { [name: string]: string }; dialect?: string } & Partial<
      Pick<WireRequest, 'path' | 'query'>
    >,
  ): Promise<Answer>;
  /** The key of another account. */
  another(): Promise<string>;
  /** Of the account, in nano-USD. */
  held(): Promise<bigint>;
  spent(): Promise<bigint>;
}

export interface GatewayBench {
  /** A format as providers are sent it. */
  dialect(name: string): ProviderDialect;
  readonly store: Store;
  /** Changes a model: the price stays. */
  change(model: { [member: string]: unknown }): Promise<void>;
  open(setup?: CaseSetup): Promise<GatewayCase>;
  close(): Promise<void>;
}

export async function startGatewayBench(): Promise<GatewayBench> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'modelport-gateway-'));
  whenGone(`rm -rf ${dataFolder}`);
  let clock = NOON;
  let cases = 0;
  const now = () => clock;
  const store = await openStore({ dataDir: dataFolder });
  await store.migrate();
  const catalog = createCatalog({ store, now });
  const access = createAccess({ store });
  const ledger = createLedger({ store, owner: 'bench', now });
  await ledger.renew();
  const memory = createMemory(store.kept, { responsesMs: 3_600_000, signaturesMs: 3_600_000 });
  const guard = createGuardedFetch({ allows: () => false, maxBytes: 1000, timeoutMs: 5000 });

  async function open(setup: CaseSetup = {}): Promise<GatewayCase> {
    const model = `m${++cases}`;
    await addModel(model, setup);
    const { key, account } = await addKey(model, setup);
    const caller = await access.authenticate({ key, address: '127.0.0.1' }, clock);
    const transport = createFakeTransport();
    const calls: CallRow[] = [];
    const troubles: string[] = [];
    const loads = new Set<Load>();
    const client = new FakeClient();
    let unreleased = 0;
    const deps: GatewayDeps = {
      access: { ...access, enter: (who, bytes) => counted(access.enter(who, bytes)) },
      catalog,
      ledger,
      memory,
      transport,
      guard,
      imageStore: undefined,
      provider: providerOf,
      dialect: providerDialect,
      signing: createSigning(transport, now),
      // Each letter is a token.
      countTexts: (texts) => Promise.resolve(texts.map(({ length }) => length)),
      settings: { ...SETTINGS, ...setup.settings },
      now,
      random: () => 0,
      events: createEvents(
        [{ ended: (_, call) => void calls.push(call) }],
        (thrown) => void troubles.push(String(thrown)),
      ),
      reportError: (sentence) => void troubles.push(sentence),
      ...setup.deps,
    };
    const gateway = createGateway(deps);
    const balance = async () => (await ledger.balance(account)) ?? { available: 0n, held: 0n };

    function counted(load: Load): Load {
      const one: Load = {
        take: (bytes) => load.take(bytes),
        count: (bytes) => load.count(bytes),
        give: (bytes) => load.give(bytes),
        end() {
          loads.delete(one);
          load.end();
        },
      };
      loads.add(one);
      return one;
    }

    function release(): () => void {
      unreleased++;
      return () => void unreleased--;
    }

    return {
      model,
      caller,
      deps,
      gateway,
      transport,
      client,
      calls,
      troubles,
      loads,
      underWay: new PlacedSet(),
      unreleased: () => unreleased,
      turn(ms) {
        clock += ms;
      },
      pendingCall(body, name = 'openai-chat', headers = {}) {
        const dialect = clientDialect(name);
        const call: Call = dialect.readCall(wireRequest(body, headers, () => {}));
        const load = deps.access.enter(caller, 0);
        const id = newId('req_');
        return {
          id,
          at: clock,
          startedMs: performance.now(),
          ...{ dialect, caller, call, load },
          trace: new CallTrace(deps.events, id, clock, dialect.name),
          strict: false,
          release: release(),
        };
      },
      serve: (body, { key: shown = key, headers = {}, dialect = 'openai-chat', ...rest } = {}) =>
        gateway.serve(clientDialect(dialect), {
          key: shown,
          address: '127.0.0.1',
          requestId: newId('req_'),
          announcedBytes: undefined,
          read: () => ({ ...wireRequest(body, headers, release()), ...rest }),
          client,
        }),
      another: async () => (await addKey(`${model}-other`, setup)).key,
      held: async () => (await balance()).held,
      async spent() {
        const { available, held } = await balance();
        return (setup.balance ?? TEN_USD) - available - held;
      },
    };
  }

  async function addModel(
    name: string,
    { targets = 1, credentials = 1, type, provider: more = {}, model = {} }: CaseSetup,
  ): Promise<void> {
    const providers = Array.from({ length: targets }, (_, index) => ({
      name: `p${index}-${name}`,
      type: type ?? 'openai-compatible',
      baseUrl: `http://p${index}.test/v1`,
      credentials: Array.from({ length: credentials }, (_, place) => `sk-secret-${place}`),
      ...more,
    }));
    const row = {
      name,
      kind: 'chat' as const,
      price: PRICE,
      maxOutputTokens: 100,
      targets: providers.map((provider, index) => ({ provider: provider.name, model: 'upstream', priority: index })),
      ...model,
    };
    await applyCatalogue(store, { providers, models: [row] }, clock);
    await catalog.reload();
  }

  async function addKey(name: string, setup: CaseSetup): Promise<{ key: string; account: string }> {
    const account = newId('acct_');
    await store.createAccount({ id: account, name, balance: 0n, held: 0n, createdAt: clock });
    const { key, hash, last4 } = issueKey('caller');
    const row: KeyRow = { id: newId('key_'), account, kind: 'caller', name, hash, last4, createdAt: clock };
    await store.createKey({ ...row, ...setup.key });
    const balance = setup.balance ?? TEN_USD;
    if (balance > 0n) await ledger.topUp(account, balance, { at: clock });
    return { key, account };
  }

  return {
    store,
    dialect: providerDialect,
    open,
    async change(model) {
      await applyCatalogue(store, { models: [{ price: PRICE, maxOutputTokens: 100, ...model }] }, clock);
      await catalog.reload();
    },
    async close() {
      access.close();
      await store.close();
    },
  };
}

function wireRequest(body: object, headers: { [name: string]: string }, release: () => void): WireRequest {
  return {
    body: Buffer.from(JSON.stringify(body)),
    headers: new Headers(headers),
    path: {},
    query: new URLSearchParams(),
    release,
  };
}

function clientDialect(name: string): Dialect {
  const dialect = dialectNamed(name);
  if (!dialect) throw new Error(`There is no format ${name}.`);
  return dialect;
}

function providerDialect(name: string): ProviderDialect {
  const dialect = providerDialectNamed(name);
  if (!dialect) throw new Error(`There is no format ${name}.`);
  return dialect;
}
