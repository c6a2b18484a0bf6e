/** For tests: the HTTP edge with real modules and a database in a temporary folder, on a local address. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccess } from '../../src/access/access.ts';
import { auditRow } from '../../src/access/audit.ts';
import { issueKey } from '../../src/access/key.ts';
import { openAlerts } from '../../src/alerts/open-alerts.ts';
import { type Apply, applyFile, configFile } from '../../src/apply-file.ts';
import { newId } from '../../src/canonical/id.ts';
import { applyCatalogue } from '../../src/catalog/apply.ts';
import { createCatalog } from '../../src/catalog/catalog.ts';
import { createPriceBook } from '../../src/catalog/price-book.ts';
import { readComponents } from '../../src/catalog/price-text.ts';
import { shownSettings } from '../../src/config/shown-settings.ts';
import { createMemory } from '../../src/conversations/conversations.ts';
import { dialectNamed, providerDialectNamed } from '../../src/dialects/index.ts';
import { openFiles } from '../../src/files/open-files.ts';
import { explain } from '../../src/gateway/admit/explain.ts';
import type { GatewayDeps } from '../../src/gateway/gateway-deps.ts';
import { createEdge } from '../../src/http/edge.ts';
import type { HttpDeps } from '../../src/http/http-deps.ts';
import { createReadiness } from '../../src/http/routes/status/readiness.ts';
import { listen } from '../../src/http1/server.ts';
import { createLedger } from '../../src/ledger/prepaid-ledger.ts';
import { createRepricings } from '../../src/ledger/repricing.ts';
import { createVerifier } from '../../src/ledger/verifier.ts';
import { createModelLists } from '../../src/model-lists.ts';
import type { OidcSettings } from '../../src/people/oidc-claims.ts';
import { createPeople } from '../../src/people/people.ts';
import type { RegistrationSettings } from '../../src/people/registration.ts';
import { providerOf } from '../../src/providers/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { KeyKind, KeyRow } from '../../src/store/rows.ts';
import type { Store } from '../../src/store/store.ts';
import type { VideoTasks } from '../../src/tasks/video-tasks.ts';
import { createEvents } from '../../src/telemetry/events.ts';
import { createLiveCalls } from '../../src/telemetry/live-calls.ts';
import { createMetrics } from '../../src/telemetry/metrics/metrics.ts';
import { createGuardedFetch } from '../../src/transport/guarded-fetch.ts';
import { sendMail } from '../../src/transport/send-mail.ts';
import { createTransport } from '../../src/transport/transport.ts';
import type { TestDatabase } from './engines.ts';

interface ConsoleOptions {
  hasConsole?: boolean;
  pages?: HttpDeps['pages'];
  /** The clock of sessions and sign-ins. */
  peopleNow?: () => number;
  oidc?: OidcSettings;
  registration?: RegistrationSettings;
}

const NO_TELEMETRY = {
  events: createEvents([], () => {}),
  refusals: { flush: async () => {} },
  live: createLiveCalls(),
};
/** Sends to receivers on loopback. */
const alertsOf = (store: Store) =>
  openAlerts(
    createGuardedFetch({ allows: (address) => address === '127.0.0.1', maxBytes: 1000, timeoutMs: 10_000 }),
    { index: 0 },
    {
      store,
      now: Date.now,
      worker: 'loopback',
      processStatusOf: () => 'unknown',
      reportError: (sentence) => {
        throw new Error(sentence);
      },
    },
  );

export const MAX_BODY_BYTES = 100_000;

export interface Loopback {
  /** Its URL. */
  address: string;
  /** Of its database. */
  settings: TestDatabase['settings'];
  store: Store;
  deps: HttpDeps;
  account: string;
  callerKey: string;
  adminKey: string;
  /** What was reported to the operator. */
  troubles: string[];
  /** Sends a request with the caller's key unless `key` is given; `null`: no key. A body other than text is sent as JSON. */
  ask(method: string, path: string, options?: AskOptions): Promise<Response>;
  /** The same with the admin key; returns the response as JSON. */
  admin(method: string, path: string, body?: unknown, headers?: { [name: string]: string }): Promise<AdminAnswer>;
  /** Asks as a page of the console does: from its own site, with the cookie of a session. Returns the cookie that is set, too. */
  page(
    method: string,
    path: string,
    cookie: string,
    body?: object,
    headers?: object,
  ): Promise<AdminAnswer & { cookie: string }>;
  issue(kind: KeyKind, more?: Partial<KeyRow>): Promise<string>;
  stop(): Promise<void>;
}

interface AskOptions {
  key?: string | null;
  headers?: { [name: string]: string };
  body?: unknown;
}

interface AdminAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

const noVideos = () => Promise.reject(new Error('no videos'));
const NO_VIDEOS: VideoTasks = {
  create: noVideos,
  find: noVideos,
  running: async () => undefined,
  list: noVideos,
  remove: noVideos,
  drain: noVideos,
};

/** These routes need no gateway: a call that arrives there is a fault. */
const NO_GATEWAY = { serve: () => Promise.reject(new Error('no gateway')), active: 0, drain: () => Promise.resolve() };

/** Tests serve price files on the loopback address. */
const LOOPBACK_GUARD = createGuardedFetch({
  allows: (address) => address === '127.0.0.1',
  maxBytes: 1_000_000,
  timeoutMs: 10_000,
});

/** Passwords cost as little as the algorithm permits. */
const PEOPLE = {
  times: { idleMs: 3_600_000, longestMs: 86_400_000 },
  guard: LOOPBACK_GUARD,
  passwords: { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 },
} as const;

/** Nothing is captured without a gateway. */
const NO_CAPTURES = { read: () => Promise.resolve(undefined) };

const pricesOf = (store: Store) => ({
  captures: NO_CAPTURES,
  prices: createPriceBook({ store, guard: LOOPBACK_GUARD, now: Date.now }),
  repricings: createRepricings({ store, now: Date.now, readPrice: readComponents }),
});

/** What an explanation looks at: it sends nothing. */
function explainingWith(modules: Pick<GatewayDeps, 'access' | 'catalog' | 'ledger'>): GatewayDeps {
  const settings = { maxImages: 10, unpricedExtras: 'refuse' };
  const tables = { provider: providerOf, dialect: providerDialectNamed };
  return { ...modules, ...tables, settings, random: () => 0, now: Date.now } as unknown as GatewayDeps;
}

const verifierOf = (store: Store) =>
  createVerifier({ store, owner: newId('owner_'), key: () => 'k'.repeat(32), now: Date.now, reportError: () => {} });

const serveOver = (deps: HttpDeps) =>
  listen({ ...createEdge(deps), reportError: deps.reportError, hostname: '127.0.0.1', port: 0, shared: false });

/** `database`: an existing one instead of SQLite in a new folder. */
export async function startLoopback(
  database?: TestDatabase['settings'],
  { hasConsole = true, pages, peopleNow = Date.now, ...ways }: ConsoleOptions = {},
): Promise<Loopback> {
  const folder = await mkdtemp(join(tmpdir(), 'modelport-http-'));
  const settings = database ?? { dataDir: folder };
  const store = await openStore(settings);
  await store.migrate();
  const ledger = createLedger({ store, owner: newId('owner_'), now: Date.now });
  const access = createAccess({ store });
  const catalog = createCatalog({ store });
  const troubles: string[] = [];
  const apply: Apply = (form, actor, keepExisting = false, changed = () => {}, isGuarded = true) =>
    applyCatalogue(store, form, Date.now(), {
      ...(isGuarded && { guarded: {} }),
      keepExisting,
      audit: (what, subject) => (before, after) => {
        const action = `${what}.${before ? 'changed' : 'created'}`;
        const row = auditRow({ actor, action, subject, before, after }, Date.now());
        changed({ what, row });
        return row;
      },
    });
  const mail = { sendMail, reportError: (sentence: string) => void troubles.push(sentence) };
  const deps: HttpDeps = {
    store,
    ledger,
    access,
    catalog,
    memory: createMemory(store.kept, { responsesMs: 30 * 86_400_000, signaturesMs: 86_400_000 }),
    gateway: {
      ...NO_GATEWAY,
      explain: (...args) => explain(explainingWith({ access, catalog, ledger }), ...args),
    },
    people: hasConsole ? createPeople({ ...PEOPLE, ...ways, store, mail, now: peopleNow }) : undefined,
    ...{ pages, dialect: dialectNamed },
    files: openFiles({ folder: join(folder, 'files') }),
    videos: NO_VIDEOS,
    apply,
    applyFile: (form, name, key) => applyFile(store, apply, form, configFile(name, form), Date.now(), key),
    listModels: createModelLists(createTransport(), () => ({ providers: [] })),
    rotateSecrets: () => Promise.resolve({ from: 'MODELPORT_SECRET_KEY', providers: 2 }),
    verifier: verifierOf(store),
    readiness: createReadiness({ ask: () => store.ready() }),
    ...{ ...NO_TELEMETRY, ...pricesOf(store), metrics: createMetrics(Date.now()), alerts: alertsOf(store) },
    settings: {
      version: '1.2.3',
      maxBodyBytes: MAX_BODY_BYTES,
      jsonBounds: { depth: 100, values: 500_000, members: 100_000, membersOfOne: 10_000 },
      isSecure: false,
      publicUrl: undefined,
      uploadFolder: folder,
      ...{ trustedProxies: [], showAttempts: false },
      metrics: { token: undefined, isOpen: false },
    },
    shownSettings: () => shownSettings({ dataDir: folder }, { PORT: '0', MODELPORT_API_KEY: 'sk-hidden' }),
    now: Date.now,
    reportError: (sentence) => void troubles.push(sentence),
  };
  const server = serveOver(deps);
  const address = `http://127.0.0.1:${server.port}`;

  const account = newId('acct_');
  await store.createAccount({ id: account, name: 'default', balance: 0n, held: 0n, createdAt: Date.now() });
  const issue = async (kind: KeyKind, more: Partial<KeyRow> = {}) => {
    const { key, hash, last4 } = issueKey(kind);
    await store.createKey({
      id: newId('key_'),
      account,
      kind,
      name: 'test',
      hash,
      last4,
      createdAt: Date.now(),
      ...more,
    });
    return key;
  };
  const callerKey = await issue('caller');
  const adminKey = await issue('admin');

  const ask: Loopback['ask'] = (method, path, { key = callerKey, headers = {}, body } = {}) =>
    fetch(new URL(path, address), {
      method,
      headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });

  return {
    address,
    settings,
    store,
    deps,
    account,
    callerKey,
    adminKey,
    troubles,
    ask,
    async admin(method, path, body, headers = {}) {
      const response = await ask(method, `/admin/v1${path}`, { key: adminKey, body, headers });
      return { status: response.status, body: await response.json() };
    },
    async page(method, path, cookie, body, more = {}) {
      const headers = { 'sec-fetch-site': 'same-origin', ...(cookie && { cookie }), ...more };
      const response = await ask(method, path, { key: null, headers, ...(body && { body }) });
      const written = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      return { status: response.status, body: await response.json(), cookie: written };
    },
    issue,
    async stop() {
      server.kill();
      await ledger.flush();
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Two chat models and a provider, in the form of modelport.yaml. */
export const CATALOGUE = {
  providers: [
    { name: 'main', type: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', credential: 'secret-abcdefgh1234' },
  ],
  models: ['alpha', 'team/beta-2', 'gamma:8b'].map((name) => ({
    name,
    kind: 'chat',
    price: { input: 0.15, output: 0.6 },
    maxOutputTokens: 4096,
    contextTokens: 128_000,
    displayName: `Model ${name}`,
    ownedBy: 'tests',
    targets: [{ provider: 'main', model: name }],
  })),
};

/** With the models of `CATALOGUE`. */
export async function startCatalogueLoopback(): Promise<Loopback> {
  const edge = await startLoopback();
  await edge.deps.apply(CATALOGUE, 'test');
  await edge.deps.catalog.reload();
  return edge;
}
