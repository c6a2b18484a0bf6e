/** Runs the service: bootstrap, catalogue, server, and the graceful stop. */

import { fullGC } from 'bun:jsc';
import { dirname, join } from 'node:path';
import { type App, openApp, openDatabase, openTransport } from './app.ts';
import { configFile, SHOW_FILE_MS, showFile } from './apply-file.ts';
import { ensureKeys, firstStart, keyFileIn } from './bootstrap.ts';
import { settledWithin } from './canonical/time.ts';
import { onThreadFailure } from './canonical/worker-program.ts';
import type { CatalogueForm } from './catalog/catalogue.ts';
import { shownSettings } from './config/shown-settings.ts';
import type { Config } from './config.ts';
import { dialectNamed } from './dialects/index.ts';
import { removeExpiredImages } from './files/image-store.ts';
import { providerVariables } from './found-providers.ts';
import { type FirstTime, greet, modelToTry, type Ports } from './greeting.ts';
import { startHourlyTimer } from './hourly-calls.ts';
import { createPages } from './http/pages.ts';
import { createReadiness } from './http/routes/status/readiness.ts';
import { createIdleCollection, IDLE_LOOK_MS } from './idle-collection.ts';
import { processStatusOf } from './ledger/process-identity.ts';
import { createLog, type Log } from './log.ts';
import { createModelLists } from './model-lists.ts';
import { createLink, ensureOwner, FIRST_LINK_MS } from './people/links.ts';
import { createPeople, type People } from './people/people.ts';
import { openWorkerLink } from './process-messages.ts';
import { serveProcesses } from './processes.ts';
import { applyConfiguredCatalogue, createReload } from './reload.ts';
import { createRetention } from './retention.ts';
import { rotateSecrets } from './rotate-secrets.ts';
import { openServers, type Servers } from './servers.ts';
import { misspeltVariables, startListing } from './start-listing.ts';
import { notReady, type Readiness } from './store/readiness.ts';
import type { Store } from './store/store.ts';
import { sendMail } from './transport/send-mail.ts';
import { startWatchdog } from './watchdog.ts';

/** How long the tokens of calls that a stop has cut off may be counted. */
const COUNTING_MS = 500;

/** How often changes by other processes are looked for and the lease is renewed. */
const WATCH_MS = 1000;
const TIDY_MS = 3_600_000;
/** No record is removed before it: by then the clock of a machine that has just started is set. */
const FIRST_REMOVAL_MS = 600_000;
/** How often alerts are looked after. */
const ALERTS_MS = 1000;
/** How long a stop waits for such a file that is being written: another process writes it again. */
const HOURLY_DRAIN_MS = 2000;
/** How long a stop waits for alerts that are being sent: the others are sent by the next process. */
const ALERTS_DRAIN_MS = 2000;
/** How often the delay of the event loop is measured. */
const DELAY_MS = 500;

const DIVIDED_LIMITS =
  'Limits are divided among the processes, and each enforces its part: set REDIS_URL to count them over all processes.';

export interface ServeOptions {
  version: string;
  /** Upstreams are reached through a proxy from the environment. */
  proxied: boolean;
  /** The process that started this one and passes its signals on, if any. */
  launcher: number | undefined;
  /** The index of this process, if there are several. */
  worker: number | undefined;
  /** The number of processes. */
  workers: number;
  /** The command that runs this program, to start workers. */
  command: readonly string[];
  env: { readonly [variable: string]: string | undefined };
  /** The output is a terminal, so it is read and not stored. */
  isTerminal: boolean;
  /** Writes one line to the terminal. */
  out(line: string): void;
  /** Reads the settings again. Throws an Error if one is invalid. */
  readAgain(): Config;
}

/** Serves until SIGTERM or SIGINT and resolves with the exit code. Throws an Error if it cannot start. */
export async function serve(config: Config, count: number, options: ServeOptions): Promise<number> {
  // From now on SIGHUP does not end the process.
  process.on('SIGHUP', () => hungUp());
  const write = (lines: string) => void process.stdout.write(lines);
  const log = createLog(config.logLevel, write, Date.now, options.worker);
  onThreadFailure((thread, message) => log.error('a thread failed', { thread, message }));
  const store = await openDatabase(config);
  try {
    await store.migrate();
    for (const warning of (await store.ready()).warnings) log.warn(warning);
    const standing = { index: (options.worker ?? 1) - 1, count: options.workers };
    const app = openApp(config, store, openTransport(options.proxied), log, { standing, version: options.version });
    if (count > 1 && config.redisUrl === undefined) log.warn(DIVIDED_LIMITS, { processes: count });
    const isFirst = options.worker === undefined;
    const first = isFirst ? await prepareStart(config, app, options.isTerminal, log) : undefined;
    if (isFirst) warnOfVariables(options.env, log);
    const listing = isFirst ? await startListing(store, Date.now()) : [];
    const ready = (ports: Ports) => greet(config, ports, first, options.out, listing);
    if (count === 1) return await serveAlone(config, app, ready, { ...options, log });
    app.close();
    return await serveProcesses(config, count, {
      ...options,
      log,
      write,
      ready,
      stopRequested: () => stopRequested(options.launcher),
      onReload: (reload) => {
        hungUp = reload;
      },
    });
  } finally {
    await store.close().finally(log.flush);
  }
}

/** The handler of SIGHUP; a worker gets it from the process that started it. */
let hungUp = () => {};

/** The whole service in this process, or one of several workers. */
async function serveAlone(
  config: Config,
  app: App,
  ready: (ports: Ports) => void,
  { version, launcher, worker, env, log, readAgain }: ServeOptions & { log: Log },
): Promise<number> {
  await app.catalog.reload();
  await app.ledger.sweep(Date.now(), processStatusOf);
  const deps = {
    ...app,
    applyFile: (form: CatalogueForm, name: string, key: string) => app.applyFile(form, configFile(name, form), key),
    rotateSecrets: () => rotateSecrets(config, app.store),
    listModels: createModelLists(app.transport, () => current),
    people: openPeople(config, app),
    pages: config.console && createPages(pagesBeside(Bun.main)),
    dialect: dialectNamed,
    readiness: createReadiness({ ask: () => readinessOf(app) }),
    settings: {
      version,
      maxBodyBytes: config.maxBodyBytes,
      jsonBounds: config.jsonBounds,
      isSecure: config.tls !== undefined,
      publicUrl: config.publicUrl,
      uploadFolder: config.dataDir,
      trustedProxies: config.trustedProxies,
      showAttempts: config.showAttempts,
      metrics: { token: config.metricsToken, isOpen: config.metrics === 'open' },
    },
    shownSettings: () => shownSettings(config, env),
    now: Date.now,
  };
  const link = worker === undefined ? undefined : openWorkerLink(() => app.metrics.collect(deps));
  const servers = openServers(
    config,
    link ? { ...deps, metrics: { ...app.metrics, write: (_, format) => link.gather(format) } } : deps,
    link !== undefined,
  );
  let current = config;
  const done = (fresh: Config) => {
    current = fresh;
  };
  const reload = createReload({ app, servers, log, isFirst: (worker ?? 1) === 1, readAgain, done });
  if (link) link.onReload(reload);
  else hungUp = reload;
  const watch = startWatch(app);
  const measuring = measureDelay(app.metrics.eventLoopDelayed);
  const showing = setInterval(() => void show(current, app), SHOW_FILE_MS);
  const stopTidying = startTidying(config, app);
  const alerting = setInterval(() => void app.alerts.turn(), ALERTS_MS);
  // One process of each machine is enough.
  const stopFiling = startHourlyTimer((worker ?? 1) === 1 ? app.hourlyCalls : undefined);
  app.access.start();
  const tasks = app.runTasks();
  const stopWatchdog = link || config.stallMs === 0 ? undefined : startWatchdog(config.stallMs);
  const stopped = stopRequested(launcher);
  if (link) link.ready();
  else ready(servers.ports);
  await stopped;
  clearInterval(showing);
  stopTidying();
  clearInterval(measuring);
  clearInterval(alerting);
  stopFiling();
  await Promise.all([stop(config, app, servers, log), tasks.stop(config.drainMs)]);
  const draining = [app.drainTraces(), app.alerts.stop(ALERTS_DRAIN_MS), app.captures.drain(CAPTURES_DRAIN_MS)];
  await Promise.all([...draining, app.refusals.flush(), app.hourlyCalls?.stop(HOURLY_DRAIN_MS)]);
  // Calls that a stop waits for keep the lease: others must not settle them.
  clearInterval(watch);
  app.close();
  stopWatchdog?.();
  link?.close();
  return 0;
}

function openPeople({ console }: Config, { store, guard, reportError }: App): People | undefined {
  return console && createPeople({ ...console, store, guard, mail: { sendMail, reportError }, now: Date.now });
}

/** A provider is missing without a word if its key has another name. */
function warnOfVariables(env: ServeOptions['env'], log: Log): void {
  for (const { variable, meant } of misspeltVariables(env, providerVariables()))
    log.warn(`${variable} is not read. Did you mean ${meant}?`);
}

/** The work of a start: keys, catalogue, and holds that dead processes left. */
async function prepareStart(config: Config, app: App, isTerminal: boolean, log: Log): Promise<FirstTime | undefined> {
  const { store, catalog } = app;
  const now = Date.now();
  const given = { apiKey: config.apiKey, adminKey: config.adminKey, now };
  const keyFile = isTerminal ? undefined : keyFileIn(config.dataDir);
  const keys = await firstStart(store, { ...given, credit: config.startingCredit, file: keyFile });
  await ensureKeys(store, given);
  await store.reencryptProviders('plain');
  await applyConfiguredCatalogue(config, app, log);
  await tidy(app);
  if (!keys) return undefined;
  await catalog.reload();
  const areRandom = keys.apiKey !== undefined || keys.adminKey !== undefined;
  const link = config.console && (await firstLink(store, now));
  return { keys, file: areRandom ? keyFile?.path : undefined, model: modelToTry(catalog), link };
}

/** Built pages are beside the program; in a clone they can be built from their source. */
const pagesBeside = (main: string) => ({
  folder: join(dirname(main), 'console'),
  source: join(dirname(main), '..', 'web', 'index.html'),
});

/** The path that signs the first owner in to the console. */
async function firstLink(store: Store, now: number): Promise<string> {
  const owner = await ensureOwner(store, 'start', now);
  return (await createLink(store.people, owner, now, FIRST_LINK_MS)).path;
}

/** Other processes may have another file and want to know whose changes they revert. */
async function show({ filePath, file }: Config, { store, reportError }: App): Promise<void> {
  if (filePath === undefined) return;
  try {
    await showFile(store, configFile(filePath, file), Date.now());
  } catch (thrown) {
    reportError('The configuration file could not be announced to other processes.', thrown);
  }
}

/** How long a stop waits for payloads that are not stored yet. */
const CAPTURES_DRAIN_MS = 2000;

/** Returns what ends it. */
function startTidying({ keepCallsDays }: Config, app: App): () => void {
  const retention = createRetention(keepCallsDays);
  const turn = () => void tidy(app, retention.keepFrom());
  const first = setTimeout(turn, FIRST_REMOVAL_MS);
  const others = setInterval(turn, TIDY_MS);
  const collecting = setInterval(idleCollection(app), IDLE_LOOK_MS);
  return () => {
    clearInterval(collecting);
    clearTimeout(first);
    clearInterval(others);
  };
}

/** Hourly work: storage for the next days, removal of call records before `keepFrom` and of expired images. */
async function tidy({ store, files, captures, reportError }: App, keepFrom?: number): Promise<void> {
  const now = Date.now();
  // Not awaited: a bucket may be slow or unreachable.
  removeExpiredImages(files, now).catch((thrown) => reportError('Expired images could not be removed.', thrown));
  captures.sweep(now).catch((thrown) => reportError('Old payloads could not be removed.', thrown));
  try {
    await store.people.sweepPeople(now);
    await store.tidy(now, keepFrom);
  } catch (thrown) {
    reportError('Call records could not be cleaned up.', thrown);
  }
}

/** The database may answer although this process has no lease. */
async function readinessOf({ store, ledger }: App): Promise<Readiness> {
  return ledger.isFenced()
    ? notReady('This process has not renewed its lease in time and takes no calls.')
    : store.ready();
}

/** The lease is renewed every second, whatever the other work takes; that runs once at a time. */
function startWatch(app: App): ReturnType<typeof setInterval> {
  let watching: Promise<void> | undefined;
  return setInterval(() => {
    if (watching) {
      // A long sweep is no loss of the database.
      app.ledger.renew().then(app.alerts.databaseAnswered, () => {});
      return;
    }
    watching = watchOver(app).finally(() => {
      watching = undefined;
    });
  }, WATCH_MS);
}

const idleCollection = ({ gateway }: App) =>
  createIdleCollection({
    active: () => gateway.active,
    processorMs() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    collect: fullGC,
  });

/** Reports how much later than planned a timer fires. */
function measureDelay(delayed: (ms: number) => void): ReturnType<typeof setInterval> {
  let last = performance.now();
  return setInterval(() => {
    const now = performance.now();
    delayed(now - last - DELAY_MS);
    last = now;
  }, DELAY_MS);
}

let seenGeneration = -1;

/** Notices changes of other processes, renews the lease, and resolves holds of dead processes. */
async function watchOver({ store, access, alerts, catalog, ledger, memory, metrics, reportError }: App): Promise<void> {
  try {
    await ledger.sweep(Date.now(), processStatusOf);
    const from = performance.now();
    const generation = await store.generation();
    metrics.databaseAnswered(performance.now() - from);
    alerts.databaseAnswered();
    if (generation !== seenGeneration) {
      access.forget();
      await catalog.reload();
      // Only now: a reload that fails is tried again.
      seenGeneration = generation;
    }
    await memory.sweep(Date.now());
  } catch (thrown) {
    reportError('The periodic database work failed.', thrown);
  }
}

/** A signal, or the death of the launcher that would have passed it on. */
function stopRequested(launcher: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
    const look = () => {
      if (launcher !== undefined && process.ppid !== launcher) resolve();
    };
    setInterval(look, WATCH_MS).unref();
  });
}

/** Stops accepting requests, waits for active calls up to the limit, and settles everything. */
async function stop({ drainMs }: Config, app: App, servers: Servers, log: Log): Promise<void> {
  log.info('stopping', { active: app.gateway.active });
  app.live.close();
  const closing = servers.stop();
  // Calls that are then cut off are settled without waiting for token counts.
  const hurry = setTimeout(() => app.close(), drainMs + COUNTING_MS);
  await Promise.all([app.gateway.drain(drainMs), app.videos.drain(drainMs)]);
  clearTimeout(hurry);
  await settledWithin([closing], 1000);
  servers.kill();
  await app.gateway.drain(0);
}
