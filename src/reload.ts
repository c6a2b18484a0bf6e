/** What a SIGHUP changes while calls go on: providers and models of the file, keys that stand in files, the certificate. */

import type { App } from './app.ts';
import { configFile, showFile } from './apply-file.ts';
import type { Config } from './config.ts';
import { SANDBOX_CATALOGUE, vendorCatalogue } from './found-providers.ts';
import type { Log } from './log.ts';
import type { Servers } from './servers.ts';

/** Puts available what the configuration says: the sandbox, providers whose keys are there, the file. */
export async function putOnSale(config: Config, app: App, log: Log): Promise<void> {
  const { store, transport } = app;
  if (config.sandbox !== 'off') await app.apply(SANDBOX_CATALOGUE, 'start', true);
  await app.apply(await vendorCatalogue(config, transport), 'start', true);
  if (config.filePath === undefined) return;
  const file = configFile(config.filePath, config.file);
  const { events } = await app.applyFile(config.file, file);
  for (const { isWarning, message, members } of events) log[isWarning ? 'warn' : 'info'](message, members);
  await showFile(store, file, Date.now());
}

export interface ReloadOptions {
  app: App;
  servers: Servers;
  log: Log;
  /** Of several processes one alone writes to the database. */
  isFirst: boolean;
  /** The settings as they are now. Throws a sentence where one is wrong. */
  readAgain(): Config;
  /** The configuration is in force. */
  done(config: Config): void;
}

/** Reloads once at a time; what is wrong is told to the operator, and the old configuration goes on. */
export function createReload({ app, servers, log, isFirst, readAgain, done }: ReloadOptions): () => void {
  let last = Promise.resolve();
  async function reload(): Promise<void> {
    try {
      const config = readAgain();
      servers.renew(config);
      await app.reconfigure(config);
      if (isFirst) {
        await putOnSale(config, app, log);
        await app.catalog.reload();
      }
      done(config);
      log.info('configuration reloaded');
    } catch (thrown) {
      app.reportError('The configuration could not be reloaded: the old one goes on.', thrown);
    }
  }
  return () => {
    last = last.then(reload);
  };
}
