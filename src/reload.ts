/** Reloads the configuration on SIGHUP while calls continue: providers and models of the file, keys in files, the certificate. */

import type { App } from './app.ts';
import { configFile, showFile } from './apply-file.ts';
import type { Config } from './config.ts';
import { environmentCatalogue, SANDBOX_CATALOGUE } from './found-providers.ts';
import type { Log } from './log.ts';
import type { Servers } from './servers.ts';

/** Applies the configured catalogue: the sandbox, providers with keys, the file. */
export async function applyConfiguredCatalogue(config: Config, app: App, log: Log): Promise<void> {
  const { store, transport } = app;
  if (config.sandbox !== 'off') await app.apply(SANDBOX_CATALOGUE, 'start', true);
  await app.apply(await environmentCatalogue(config, transport), 'start', true);
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
  /** Only one of several processes writes to the database. */
  isFirst: boolean;
  /** Reads the settings again. Throws an Error if one is invalid. */
  readAgain(): Config;
  /** Called when the configuration is in use. */
  done(config: Config): void;
}

/** Reloads one at a time. Errors are reported to the operator, and the old configuration stays. */
export function createReload({ app, servers, log, isFirst, readAgain, done }: ReloadOptions): () => void {
  let last = Promise.resolve();
  async function reload(): Promise<void> {
    try {
      const config = readAgain();
      servers.renew(config);
      await app.reconfigure(config);
      if (isFirst) {
        await applyConfiguredCatalogue(config, app, log);
        await app.catalog.reload();
      }
      done(config);
      log.info('configuration reloaded');
    } catch (thrown) {
      app.reportError('The configuration could not be reloaded: the old one stays in use.', thrown);
    }
  }
  return () => {
    last = last.then(reload);
  };
}
