/** Opens all modules on one database and connects them. */
import { type Access, createAccess } from './access/access.ts';
import { auditRow } from './access/audit.ts';
import { createRanges, readRange } from './access/cidr.ts';
import { createDividedLimits } from './access/divided-limits.ts';
import type { Limits } from './access/limits.ts';
import { createLocalLimits } from './access/local-limits.ts';
import { memoryBudget } from './access/memory-budget.ts';
import type { ProcessPosition } from './access/portions.ts';
import { createProbeLease, type SharedProbeLease } from './access/probe-lease.ts';
import { createSharedLimits } from './access/shared-limits.ts';
import { createWorkBounds, type WorkBounds } from './access/work-bounds.ts';
import type { Alerts } from './alerts/alerts.ts';
import { openAlerts } from './alerts/open-alerts.ts';
import { applyFile, type ConfigFile, type RecordedChange } from './apply-file.ts';
import { type AppliedFile, applyCatalogue, type CatalogueChanges } from './catalog/apply.ts';
import { type Catalog, createCatalog } from './catalog/catalog.ts';
import type { CatalogueForm } from './catalog/catalogue.ts';
import { createPriceBook, type PriceBook } from './catalog/price-book.ts';
import { readComponents, writePeoplesPrice } from './catalog/price-text.ts';
import { ledgerKeyOf } from './config/ledger-key.ts';
import { secretKeys } from './config/secret-key.ts';
import type { Config } from './config.ts';
import { createMemory, type Memory } from './conversations/conversations.ts';
import { providerDialectNamed } from './dialects/index.ts';
import type { Files } from './files/files.ts';
import { createImageStore, type ImageStore } from './files/image-store.ts';
import { openFiles } from './files/open-files.ts';
import { providerDefaults } from './found-providers.ts';
import { createSigning } from './gateway/attempt/tokens.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { GatewaySettings } from './gateway/gateway-deps.ts';
import { createGateway } from './gateway/serve.ts';
import { type HourlyCalls, openHourlyCalls } from './hourly-calls.ts';
import type { Ledger } from './ledger/ledger.ts';
import { createLedger } from './ledger/prepaid-ledger.ts';
import { newOwner, processStatusOf } from './ledger/process-identity.ts';
import { createRepricings, type Repricings } from './ledger/repricing.ts';
import { createTokenCounter } from './ledger/tokens/token-counter.ts';
import { createVerifier, type Verifier, type VerifierSettings } from './ledger/verifier.ts';
import { errorMembers, type Log } from './log.ts';
import { SANDBOX_BASE_URL } from './providers/chat/sandbox.ts';
import { PROVIDERS, providerOf } from './providers/index.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import { createCredentialCipher } from './store/credential-cipher.ts';
import { openStore } from './store/open-store.ts';
import type { Store } from './store/store.ts';
import { type Runner, startRunner } from './tasks/runner.ts';
import type { TaskDeps } from './tasks/task-deps.ts';
import { createVideoTasks, type VideoTasks } from './tasks/video-tasks.ts';
import { type Captures, createCaptures } from './telemetry/captures/captures.ts';
import { createEvents, type EventSink, type Events } from './telemetry/events.ts';
import { createLiveCalls, type LiveCalls } from './telemetry/live-calls.ts';
import { createLogSink } from './telemetry/log-sink.ts';
import { createMetrics, type Metrics } from './telemetry/metrics/metrics.ts';
import { createRefusedCalls, type RefusedCalls } from './telemetry/refused-calls.ts';
import { createTracing, type Tracing } from './telemetry/traces/tracing.ts';
import { createGuardedFetch, type GuardedFetch } from './transport/guarded-fetch.ts';
import { createTransport, type Transport } from './transport/transport.ts';

export interface App {
  store: Store;
  ledger: Ledger;
  verifier: Verifier;
  captures: Captures;
  prices: PriceBook;
  repricings: Repricings;
  access: Access;
  catalog: Catalog;
  memory: Memory;
  transport: Transport;
  /** Sends to public addresses and to those that the operator allows. */
  guard: GuardedFetch;
  gateway: Gateway;
  metrics: Metrics;
  events: Events;
  refusals: RefusedCalls;
  live: LiveCalls;
  alerts: Alerts;
  /** Absent: no hourly files of calls are written. */
  hourlyCalls: HourlyCalls | undefined;
  videos: VideoTasks;
  files: Files;
  /** Processes tasks until it is stopped. */
  runTasks(): Runner;
  /** `actor`: the id of the admin key, or `cli` or `start`. */
  apply(form: CatalogueForm, actor: string, keepExisting?: boolean): Promise<CatalogueChanges>;
  /** The same for a file; reports what it changed. `key`: the admin key that sent it. */
  applyFile(form: CatalogueForm, file: ConfigFile, key?: string): Promise<AppliedFile>;
  reportError(sentence: string, cause: unknown): void;
  /** Applies the keys and URLs of this configuration to providers. */
  reconfigure(config: Config): Promise<void>;
  /** Exports the spans that wait, for a short time at most. */
  drainTraces(): Promise<void>;
  /** Closes what calls use besides the database: Redis, the tokenizer. */
  close(): void;
}

/** The database, opened but not migrated. */
export function openDatabase(config: Config): Promise<Store> {
  const { dataDir, databaseUrl, databaseConnections: connections, sqliteSync: sync } = config;
  return openStore({ dataDir, databaseUrl, connections, sync, cipher: createCredentialCipher(secretKeys(config)) });
}

/** The transport, with the sandbox as a local upstream. */
export function openTransport(proxied: boolean): Transport {
  return createTransport({ local: { [new URL(SANDBOX_BASE_URL).origin]: createSandbox() }, proxied });
}

/** Fetches for clients, from public addresses and those that the operator allows. */
function openGuard({ fetchAllowed, maxFetchBytes, fetchMs }: Config): GuardedFetch {
  const ranges = createRanges(fetchAllowed.flatMap((text) => readRange(text) ?? []));
  return createGuardedFetch({ allows: ranges.has, maxBytes: maxFetchBytes, timeoutMs: fetchMs });
}

const ALONE: ProcessPosition = { index: 0, count: 1 };
/** How long a stop waits for the OTLP endpoint. */
const TRACES_DRAIN_MS = 2000;

interface AppOptions {
  /** The index of this process and the number of processes. */
  standing?: ProcessPosition;
  /** Modelport's own version. */
  version?: string;
}

/** Connects every module. `store` must be migrated. */
export function openApp(config: Config, store: Store, transport: Transport, log: Log, options: AppOptions = {}): App {
  const { standing = ALONE, version = '' } = options;
  const now = Date.now;
  const owner = newOwner();
  const metrics = createMetrics(now(), (name) => {
    // Of a wildcard callers make up the names.
    const model = catalog.find(name);
    return model && (model.wildcard ?? model.name);
  });
  const ledger = createLedger({ store, owner, now, leaseMs: config.leaseMs, batchDone: metrics.ledgerBatch });
  const limits = openLimits(config, log, metrics, standing, (isUp) => events.redis(isUp));
  const access = createAccess({ store, limits, work: openWork(config, standing) });
  const defaults = providerDefaults(config);
  const lease = openProbeLease(config);
  const reportError = (sentence: string, cause: unknown) => log.error(sentence, errorMembers(cause));
  const tracing = openTracing(config, transport, { version, instance: owner, lost: reportError });
  const [refusals, live] = [createRefusedCalls({ store, now, reportError }), createLiveCalls()];
  const guard = openGuard(config);
  const alerts = openAlerts(guard, standing, { store, now, worker: owner, processStatusOf, reportError });
  const events = openEvents(log, metrics, tracing, [refusals.sink, alerts.sink, live.sink], reportError);
  const catalog = openCatalog(defaults, store, log, lease, events);
  const memory = createMemory(store.kept, config.kept);
  const counter = createTokenCounter();
  const signing = createSigning(transport, now);
  const tasks = openTasks(config, metrics, {
    access,
    catalog,
    ledger,
    store,
    transport,
    guard,
    signing,
    worker: owner,
    processStatusOf,
    events,
    reportError,
  });
  const gateway = createGateway({
    access,
    catalog,
    ledger,
    memory,
    transport,
    guard,
    imageStore: openImageStore(config, tasks.files),
    provider: providerOf,
    dialect: requiredDialect,
    signing,
    countTexts: counter.count,
    settings: gatewaySettings(config),
    now,
    random: Math.random,
    ...{ captures: tasks.captures, events },
    reportError,
  });
  const apply = (
    form: CatalogueForm,
    actor: string,
    keepExisting = false,
    changed?: (change: RecordedChange) => void,
    isGuarded = !keepExisting,
  ) =>
    applyCatalogue(store, form, now(), {
      ...(isGuarded && { guarded: defaults }),
      types: [...PROVIDERS.keys()],
      onDisconnect: config.onDisconnect,
      keepExisting,
      audit: (what, subject, price) => (old, saved) => {
        const before = old && withPrice(old, price?.before);
        const after = saved && withPrice(saved, price?.after);
        const row = auditRow(
          { actor, action: `${what}.${old ? 'changed' : 'created'}`, subject, before, after },
          now(),
        );
        changed?.({ what, row });
        // What an admin key applies is reported by its request.
        if (actor === 'cli' || actor === 'start') events.configChanged(row);
        return row;
      },
    });
  return {
    store,
    ledger,
    verifier: openVerifier(config, store, owner, { faulty: events.ledgerFault, reportError }),
    access,
    catalog,
    memory,
    ...{ transport, guard },
    gateway,
    metrics,
    events,
    ...{ ...tasks, ...openPrices(store, guard, now), refusals, alerts, live },
    apply,
    applyFile: (form, file, key) => applyFile(store, apply, form, file, now(), key),
    reportError,
    reconfigure(fresh) {
      for (const type of Object.keys(defaults)) delete defaults[type];
      Object.assign(defaults, providerDefaults(fresh));
      return catalog.reload();
    },
    drainTraces: () => tracing?.drain(TRACES_DRAIN_MS) ?? Promise.resolve(),
    close: () => closeAll([access, lease, counter]),
  };
}

const gatewaySettings = (config: Config): GatewaySettings => ({
  limits: config.timeLimits,
  keepAliveMs: config.keepAliveMs,
  drainAfterDisconnectMs: config.disconnectDrainMs,
  maxRequestBytes: config.maxBodyBytes,
  maxReplyBytes: config.maxBodyBytes,
  maxMediaBytes: config.maxBodyBytes,
  maxImages: config.maxImages,
  unpricedExtras: config.unpricedExtras,
  showProvider: config.showProvider,
});

/** Log, metrics and, if they are exported, traces get the events. */
const openTracing = ({ traces }: Config, transport: Transport, options: Parameters<typeof createTracing>[2]) =>
  traces && createTracing(traces, transport, options);

function openEvents(
  log: Log,
  metrics: Metrics,
  tracing: Tracing | undefined,
  others: readonly EventSink[],
  reportError: App['reportError'],
): Events {
  if (tracing) metrics.add(tracing.families);
  const sinks = [createLogSink(log), metrics.sink, ...others, ...(tracing ? [tracing.sink] : [])];
  return createEvents(sinks, (thrown) => reportError('An event could not be recorded.', thrown));
}

/** Adds the price to the audit row of a model, which itself names only the price version. */
const withPrice = (row: object, components: string | undefined): object =>
  components === undefined ? row : { ...row, price: writePeoplesPrice(readComponents(components)) };

function openVerifier(
  { ledgerKey, dataDir }: Config,
  store: Store,
  owner: string,
  settings: Pick<VerifierSettings, 'faulty' | 'reportError'>,
): Verifier {
  const key = () => {
    try {
      return ledgerKey ?? ledgerKeyOf(dataDir);
    } catch (thrown) {
      settings.reportError(
        'ledger.key cannot be written: set MODELPORT_LEDGER_KEY, or every verification reads everything.',
        thrown,
      );
      return undefined;
    }
  };
  return createVerifier({ store, owner, key, now: Date.now, ...settings });
}

/** Payloads are encrypted with the key that encrypts credentials. */
function openCaptures(config: Config, files: Files, metrics: Metrics, lost: App['reportError']): Captures {
  const cipher = createCredentialCipher(secretKeys(config));
  const { captureBytes: maxBytes, captureDays: keepDays } = config.kept;
  const captures = createCaptures({ files, cipher, maxBytes, keepDays, now: Date.now, lost });
  metrics.add(captures.families);
  return captures;
}

const openPrices = (store: Store, guard: GuardedFetch, now: () => number): Pick<App, 'prices' | 'repricings'> => ({
  prices: createPriceBook({ store, guard, now }),
  repricings: createRepricings({ store, now, readPrice: readComponents }),
});

const closeAll = (all: readonly ({ close(): void } | undefined)[]) => {
  for (const one of all) one?.close();
};

/** Without a public URL the gateway cannot give images lasting URLs. */
function openImageStore({ publicUrl, keepImagesMs: keepMs }: Config, files: Files): ImageStore | undefined {
  return publicUrl === undefined ? undefined : createImageStore(files, { publicUrl, keepMs, now: Date.now });
}

/** What stores files. */
type TaskWork = Pick<App, 'videos' | 'files' | 'runTasks' | 'captures' | 'hourlyCalls'>;

function openTasks(
  config: Config,
  metrics: Metrics,
  deps: Omit<TaskDeps, 'files' | 'provider' | 'settings' | 'inHand' | 'now' | 'random'>,
): TaskWork {
  const { videoModel: defaultModel, videoMs: taskMs, videoPollMs: pollMs } = config;
  const { keepFilesMs: keepMs, maxFileBytes: maxResultBytes, unpricedExtras } = config;
  const files = openFiles(config.files);
  const settings = { defaultModel, taskMs, pollMs, keepMs, maxResultBytes, unpricedExtras };
  const all: TaskDeps = {
    ...deps,
    files,
    settings,
    provider: providerOf,
    inHand: new Set(),
    now: () => Date.now(),
    random: Math.random,
  };
  const captures = openCaptures(config, files, metrics, deps.reportError);
  const hourlyCalls = openHourlyCalls(config, metrics, all);
  return { files, captures, hourlyCalls, videos: createVideoTasks(all), runTasks: () => startRunner(all) };
}

function openProbeLease({ redisUrl, redisPrefix, redisTimeoutMs }: Config): SharedProbeLease | undefined {
  return redisUrl === undefined ? undefined : createProbeLease(redisUrl, redisPrefix, redisTimeoutMs);
}

function openCatalog(
  defaults: ReturnType<typeof providerDefaults>,
  store: Store,
  log: Log,
  probeLease: SharedProbeLease | undefined,
  events: Events,
): Catalog {
  return createCatalog({
    store,
    probeLease,
    providerDefaults: defaults,
    cooldown: events.cooldown,
    credentialRefused(provider, credential, seconds) {
      log.warn('a credential was refused: others are used meanwhile', { provider, credential, seconds });
    },
  });
}

/** The bounds on concurrent work in this process. */
function openWork({ memoryBytes: set, accountCalls, accountBytes }: Config, { count }: ProcessPosition): WorkBounds {
  const memoryBytes = memoryBudget(set, count);
  return createWorkBounds({ accountCalls, accountBytes: accountBytes || memoryBytes / 4, memoryBytes });
}

/** The rate limits: counted in this process, or in Redis for all processes. */
function openLimits(
  config: Config,
  log: Log,
  metrics: Metrics,
  standing: ProcessPosition,
  changed: (isUp: boolean) => void,
): Limits {
  const { redisUrl, redisPrefix, redisTimeoutMs, limitsWithoutRedis } = config;
  if (redisUrl === undefined) return standing.count === 1 ? createLocalLimits() : createDividedLimits(standing);
  return createSharedLimits({
    url: redisUrl,
    prefix: redisPrefix,
    timeoutMs: redisTimeoutMs,
    whenDown: limitsWithoutRedis,
    standing,
    answered: metrics.redisAnswered,
    changed(isUp, cause) {
      metrics.redisIsUp(isUp);
      changed(isUp);
      if (isUp) log.info('Redis answers again: limits are counted over all processes.', {});
      else if (limitsWithoutRedis === 'open') {
        log.error(
          'Redis does not answer: this process enforces its part of the limits by itself.',
          errorMembers(cause),
        );
      } else log.error('Redis does not answer: calls of limited keys are refused.', errorMembers(cause));
    },
  });
}

function requiredDialect(name: string) {
  const dialect = providerDialectNamed(name);
  if (!dialect) throw new Error(`There is no dialect "${name}".`);
  return dialect;
}
