/** Commands for the gateway itself: serve, migrate, doctor. */

import { asGatewayError } from '../canonical/errors.ts';
import { lastFour } from '../canonical/redaction.ts';
import type { ProviderRow } from '../store/catalog-rows.ts';
import { leastVersionAfter, linesOf, type SchemaState } from '../store/migration-plan.ts';
import type { Store } from '../store/store.ts';
import type { CliDeps, LiveCheck } from './cli-deps.ts';
import { type Command, UsageError } from './command.ts';
import { alignedLines, type PrintedRow } from './printed.ts';

const serve: Command = {
  name: 'serve',
  isLocal: true,
  usage: '[--processes N|auto]',
  summary: 'Runs the gateway until it is stopped, in one process or in several that share the port.',
  options: { processes: { type: 'string' } },
  run: (open, given) => open.serve(readProcesses(given.option('processes'))),
};

function readProcesses(written: string | undefined): number | 'auto' | undefined {
  if (written === undefined || written === 'auto') return written;
  const count = Number(written);
  if (Number.isInteger(count) && count >= 1 && count <= MOST_PROCESSES) return count;
  throw new UsageError(`--processes must be a whole number from 1 to ${MOST_PROCESSES}, or auto.`);
}

const MOST_PROCESSES = 256;

const migrate: Command = {
  name: 'migrate',
  isLocal: true,
  usage: '[--check]',
  summary:
    "Brings the database's schema up to date. With --check only shows the missing steps, and exits with 2 if there are some.",
  options: { check: { type: 'boolean' } },
  async run(open, given) {
    const store = await open.store();
    if (given.flag('check')) return showMissingSteps(open, await store.schema());
    const { ready: before } = await store.ready();
    await store.migrate();
    open.terminal.out(before ? 'The database was up to date.' : 'The database is up to date now.');
    return 0;
  },
};

function showMissingSteps({ terminal }: CliDeps, state: SchemaState): number {
  if (state.is === 'unusable') {
    terminal.err(state.why);
    return 1;
  }
  if (state.is !== 'behind') {
    const newer = state.is === 'ahead' ? ' It is newer than this Modelport, and compatible with it.' : '';
    terminal.out(`The database is up to date.${newer}`);
    return 0;
  }
  const { version, pending } = state;
  terminal.out(
    `The database has schema version ${version}; this Modelport has ${version + pending.length}. Missing steps:`,
  );
  for (const [at, step] of pending.entries()) {
    terminal.out(`  ${version + at + 1}`);
    for (const line of linesOf(step)) terminal.out(`    ${line}`);
  }
  const after = version === 0 ? undefined : leastVersionAfter(pending);
  if (after !== undefined && after > version)
    terminal.out(`Stop all gateways first: afterwards those that know less than schema version ${after} are refused.`);
  else terminal.out('Gateways of the earlier version go on during and after it.');
  return MISSING_STEPS;
}

/** The exit code if there are missing steps. */
const MISSING_STEPS = 2;

const doctor: Command = {
  name: 'doctor',
  isLocal: true,
  usage: '[--live]',
  summary:
    'Shows the settings, whether the database is ready, and which providers can be called; with --live also tries Redis, the storage of files, every credential, the clock and the disk. Exits with 1 if there is a problem.',
  options: { live: { type: 'boolean' } },
  async run(open, given) {
    const settings = open
      .settings()
      .map(({ name, value, secret }) => ({ name, value: secret ? lastFour(value) : value }));
    const database = await examineDatabase(open);
    const providers = database.store ? await examineProviders(open, database.store) : [];
    const rows = database.store && given.flag('live') ? await database.store.providers().catch(() => []) : [];
    const live = given.flag('live') ? await open.liveChecks(rows) : [];
    const canCall = database.store !== undefined && providers.every(({ state }) => state === 'ok');
    const healthy = canCall && live.every(({ ok }) => ok);
    if (given.json) {
      const more = given.flag('live') && { version: open.version, live };
      open.terminal.out(JSON.stringify({ healthy, settings, database: database.state, providers, ...more }));
    } else {
      const section = (title: string, lines: string[]) => [title, ...lines.map((line) => `  ${line}`), ''];
      const none = ['none is configured'];
      const lines = [
        ...section('Settings', alignedLines(settings)),
        ...section('Database', [database.state]),
        ...section('Providers', providers.length > 0 ? alignedLines(providers) : none),
        ...(live.length > 0 ? section(`Live, by Modelport ${open.version}`, alignedLines(live.map(liveRow))) : []),
        healthy ? 'No problems were found.' : 'There are problems: see above.',
      ];
      for (const line of lines) open.terminal.out(line);
    }
    return healthy ? 0 : 1;
  },
};

const liveRow = ({ check, ok, state }: LiveCheck): PrintedRow => ({ check, result: ok ? 'ok' : 'PROBLEM', state });

/** `store` is set if its rows can be read. */
async function examineDatabase(open: CliDeps): Promise<{ state: string; store?: Store }> {
  try {
    const store = await open.store();
    const { ready, reasons, warnings } = await store.ready();
    if (ready) return { state: ['ready', ...warnings].join('; '), store };
    return { state: reasons.join(' ') };
  } catch (thrown) {
    return { state: `not reachable: ${thrown instanceof Error ? thrown.message : String(thrown)}` };
  }
}

type ProviderState = PrintedRow & { state: string };

async function examineProviders(open: CliDeps, store: Store): Promise<ProviderState[]> {
  return Promise.all((await store.providers()).map((provider) => examineProvider(open, provider)));
}

async function examineProvider(open: CliDeps, provider: ProviderRow): Promise<ProviderState> {
  const { name, type, credentials } = provider;
  const shown = { name, type, credential: credentials.map(lastFour) };
  try {
    const { credential, answers, reportError } = await open.probe(provider);
    const wrong = [
      ...(credential === 'missing' ? ['its credential is missing'] : []),
      ...(answers ? [] : ['its address does not answer']),
      ...(reportError ? [reportError] : []),
    ];
    return { ...shown, state: wrong.length > 0 ? wrong.join('; ') : 'ok' };
  } catch (thrown) {
    return { ...shown, state: asGatewayError(thrown).message };
  }
}

export const SERVER_COMMANDS: readonly Command[] = [serve, migrate, doctor];
