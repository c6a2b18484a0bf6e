/** Runs the service: first start, what is on sale, the listening server, and the graceful stop. */
import { configFile, SHOW_FILE_MS, showFile } from './apply-file.ts';
import type { CatalogueForm } from './catalog/catalogue.ts';
import type { Config } from './config.ts';
import { dialectNamed } from './dialects/index.ts';
import { clearShelf } from './files/picture-shelf.ts';
import { ensureKeys, firstStart, keyFileIn } from './first-start.ts';
import { type FirstTime, greet, modelToTry, type Ports } from './greeting.ts';
import { type House, openDatabase, openHouse, openTransport } from './house.ts';
import { createReadiness } from './http/readiness.ts';
import { fateOf } from './ledger/process-identity.ts';
import { createLog, type Log } from './log.ts';
import { openWorkerLink } from './process-messages.ts';
import { serveProcesses } from './processes.ts';
import { createReload, putOnSale } from './reload.ts';
import { rotateSecrets } from './rotate-secrets.ts';
import { openServers, type Servers } from './servers.ts';
import { notReady, type Readiness } from './store/readiness.ts';
import { startWatchdog } from './watchdog.ts';

/** How long the tokens of calls that a stop has cut off may be counted. */
const COUNTING_MS = 500;

/** How often changes by other processes are looked for, and this one shows that it lives. */
const WATCH_MS = 1000;
const TIDY_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface ServeOptions {
  version: string;
  /** Upstreams are reached through a proxy that the environment names. */
  proxied: boolean;
  /** The process that started this one and passes its signals on; absent: nobody does. */
  launcher: number | undefined;
  /** The number of this process where it is one of several that serve together. */
  worker: number | undefined;
  /** How many serve together. */
  workers: number;
  /** How this program is started, for others of its kind. */
  main: string;
  env: { readonly [variable: string]: string | undefined };
  /** Somebody reads what is written, and nothing keeps it. */
  isTerminal: boolean;
  /** Writes one line to the terminal. */
  out(line: string): void;
  /** The settings as they are now. Throws a sentence where one is wrong. */
  readAgain(): Config;
}

/** Serves until SIGTERM or SIGINT, and resolves with the exit code. Throws a sentence where it cannot begin. */
export async function serve(config: Config, count: number, options: ServeOptions): Promise<number> {
  // From now on it does not end the process.
  process.on('SIGHUP', () => hungUp());
  const write = (lines: string) => void process.stdout.write(lines);
  const log = createLog(config.logLevel, write, Date.now, options.worker);
  const store = await openDatabase(config);
  try {
    await store.migrate();
    for (const warning of (await store.ready()).warnings) log.warn(warning);
    const standing = { index: (options.worker ?? 1) - 1, count: options.workers };
    const house = openHouse(config, store, openTransport(options.proxied), log, standing);
    const first = options.worker === undefined ? await furnish(config, house, options.isTerminal, log) : undefined;
    if (count === 1) return await serveAlone(config, house, first, { ...options, log });
    house.close();
    const ready = (ports: Ports) => greet(config, ports, first, options.out);
    return await serveProcesses(config, count, {
      ...options,
      log,
      write,
      ready,
      stopAsked: () => stopAsked(options.launcher),
      onReload: (reload) => {
        hungUp = reload;
      },
    });
  } finally {
    log.flush();
    await store.close();
  }
}

/** What a SIGHUP does; a worker is told by the process that started it. */
let hungUp = () => {};

/** The whole service in this process, or one of the processes that share it. */
async function serveAlone(
  config: Config,
  house: House,
  first: FirstTime | undefined,
  { version, launcher, worker, log, out, readAgain }: ServeOptions & { log: Log },
): Promise<number> {
  await house.catalog.reload();
  await house.ledger.sweep(Date.now(), fateOf);
  const rooms = {
    ...house,
    applyFile: (form: CatalogueForm, name: string, key: string) => house.applyFile(form, configFile(name, form), key),
    rotateSecrets: () => rotateSecrets(config, house.store),
    dialect: dialectNamed,
    readiness: createReadiness({ ask: () => readinessOf(house) }),
    settings: {
      version,
      maxBodyBytes: config.maxBodyBytes,
      jsonBounds: config.jsonBounds,
      isSecure: config.tls !== undefined,
      publicUrl: config.publicUrl,
      uploadFolder: config.dataDir,
      trustedProxies: config.trustedProxies,
      metrics: { token: config.metricsToken, isOpen: config.metrics === 'open' },
    },
    now: Date.now,
  };
  const link = worker === undefined ? undefined : openWorkerLink(() => house.metrics.write(rooms));
  const servers = openServers(
    config,
    link ? { ...rooms, metrics: { ...house.metrics, write: link.gather } } : rooms,
    link !== undefined,
  );
  let current = config;
  const done = (fresh: Config) => {
    current = fresh;
  };
  const reload = createReload({ house, servers, log, isFirst: (worker ?? 1) === 1, readAgain, done });
  if (link) link.onReload(reload);
  else hungUp = reload;
  const watch = startWatch(house);
  const showing = setInterval(() => void show(current, house), SHOW_FILE_MS);
  const tidying = setInterval(() => void tidy(config, house), TIDY_MS);
  house.access.start();
  const tasks = house.runTasks();
  const stopWatchdog = link || config.stallMs === 0 ? undefined : startWatchdog(config.stallMs);
  const stopped = stopAsked(launcher);
  if (link) link.ready();
  else greet(config, servers.ports, first, out);
  await stopped;
  clearInterval(showing);
  clearInterval(tidying);
  await Promise.all([stop(config, house, servers, log), tasks.stop(config.drainMs)]);
  // Calls that a stop waits for are alive: others must see that.
  clearInterval(watch);
  house.close();
  stopWatchdog?.();
  link?.close();
  return 0;
}

/** What a start puts in order: keys, models on sale, what killed processes left behind. */
async function furnish(config: Config, house: House, isTerminal: boolean, log: Log): Promise<FirstTime | undefined> {
  const { store, catalog } = house;
  const now = Date.now();
  const given = { apiKey: config.apiKey, adminKey: config.adminKey, now };
  const keyFile = isTerminal ? undefined : keyFileIn(config.dataDir);
  const keys = await firstStart(store, { ...given, credit: config.startingCredit, file: keyFile });
  await ensureKeys(store, given);
  await store.resealProviders('plain');
  await putOnSale(config, house, log);
  await tidy(config, house);
  if (!keys) return undefined;
  await catalog.reload();
  const areRandom = keys.apiKey !== undefined || keys.adminKey !== undefined;
  return { keys, file: areRandom ? keyFile?.path : undefined, model: modelToTry(catalog) };
}

/** Other processes may have another file, and want to know whose they undo. */
async function show({ filePath, file }: Config, { store, trouble }: House): Promise<void> {
  if (filePath === undefined) return;
  try {
    await showFile(store, configFile(filePath, file), Date.now());
  } catch (thrown) {
    trouble('The file of providers and models could not be shown to other processes.', thrown);
  }
}

/** Room for the records of calls to come, and an end for those older than they are kept; and for pictures whose time is over. */
async function tidy({ keepCallsDays }: Config, { store, files, trouble }: House): Promise<void> {
  const now = Date.now();
  // Nothing waits for a bucket: it may be far away, or down.
  clearShelf(files, now).catch((thrown) => trouble('Pictures whose time is over could not be removed.', thrown));
  try {
    await store.tidy(now, keepCallsDays > 0 ? now - keepCallsDays * DAY_MS : undefined);
  } catch (thrown) {
    trouble('The records of calls could not be tidied.', thrown);
  }
}

/** The database may answer while this process has no lease on it. */
async function readinessOf({ store, ledger }: House): Promise<Readiness> {
  return ledger.isFenced()
    ? notReady('This process has not renewed its lease in time and takes no calls.')
    : store.ready();
}

/** The lease is renewed every second whatever else takes its time; the rest is done once at a time. */
function startWatch(house: House): ReturnType<typeof setInterval> {
  let watching: Promise<void> | undefined;
  return setInterval(() => {
    if (watching) {
      house.ledger.renew().catch(() => {});
      return;
    }
    watching = watchOver(house).finally(() => {
      watching = undefined;
    });
  }, WATCH_MS);
}

let seenGeneration = -1;

/** Notices what other processes have changed, shows that this one lives, and resolves what dead ones left. */
async function watchOver({ store, access, catalog, ledger, memory, trouble }: House): Promise<void> {
  try {
    await ledger.sweep(Date.now(), fateOf);
    const generation = await store.generation();
    if (generation !== seenGeneration) {
      seenGeneration = generation;
      access.forget();
      await catalog.reload();
    }
    await memory.sweep(Date.now());
  } catch (thrown) {
    trouble('The database could not be looked after.', thrown);
  }
}

/** A signal, or the death of the launcher that would have passed it on. */
function stopAsked(launcher: number | undefined): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
    const look = () => {
      if (launcher !== undefined && process.ppid !== launcher) resolve();
    };
    setInterval(look, WATCH_MS).unref();
  });
}

/** Nothing new is accepted, what is under way is finished within a bound, everything is settled. */
async function stop({ drainMs }: Config, house: House, servers: Servers, log: Log): Promise<void> {
  log.info('stopping', { active: house.gateway.active });
  const closing = servers.stop();
  // Calls that are cut off then are settled without waiting for their tokens to be counted.
  const hurry = setTimeout(() => house.close(), drainMs + COUNTING_MS);
  await Promise.all([house.gateway.drain(drainMs), house.videos.drain(drainMs)]);
  clearTimeout(hurry);
  await Promise.race([closing, Bun.sleep(1000)]);
  servers.kill();
  await house.gateway.drain(0);
}
