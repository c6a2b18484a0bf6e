/** Finds and runs a command. Errors are printed as one sentence, with exit code 1. */
import { GatewayError } from '../canonical/errors.ts';
import { ACCOUNT_COMMANDS } from './account-commands.ts';
import { ALERT_COMMANDS } from './alert-commands.ts';
import { BACKUP_COMMANDS } from './backup-commands.ts';
import { CATALOG_COMMANDS } from './catalog-commands.ts';
import type { CliDeps } from './cli-deps.ts';
import { type Command, readArguments, UsageError, usageOf } from './command.ts';
import { DISPUTE_COMMANDS } from './dispute-commands.ts';
import { EXPLAIN_COMMANDS } from './explain-commands.ts';
import { HEALTH_COMMANDS } from './health-commands.ts';
import { INIT_COMMAND } from './init-command.ts';
import { KEY_COMMANDS } from './key-commands.ts';
import { LEDGER_COMMANDS } from './ledger-commands.ts';
import { MONEY_COMMANDS } from './money-commands.ts';
import { PEOPLE_COMMANDS } from './people-commands.ts';
import { PRICE_COMMANDS } from './price-commands.ts';
import { RECORD_COMMANDS } from './record-commands.ts';
import { SECRET_COMMANDS } from './secret-commands.ts';
import { SERVER_COMMANDS } from './server-commands.ts';

const COMMANDS: readonly Command[] = [
  INIT_COMMAND,
  ...SERVER_COMMANDS,
  ...CATALOG_COMMANDS,
  ...PRICE_COMMANDS,
  ...EXPLAIN_COMMANDS,
  ...HEALTH_COMMANDS,
  ...ALERT_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...MONEY_COMMANDS,
  ...DISPUTE_COMMANDS,
  ...KEY_COMMANDS,
  ...RECORD_COMMANDS,
  ...PEOPLE_COMMANDS,
  ...SECRET_COMMANDS,
  ...LEDGER_COMMANDS,
  ...BACKUP_COMMANDS,
];

/** Runs `argv` (the arguments after the program's name) and resolves with the exit code. */
export async function runCommand(argv: string[], open: CliDeps): Promise<number> {
  try {
    return await run(argv, open);
  } catch (thrown) {
    open.terminal.err(sentenceOf(thrown));
    return 1;
  } finally {
    await open.close();
  }
}

async function run(argv: string[], open: CliDeps): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') return help(open, rest);
  if (first === '--version' || first === '-v') {
    open.terminal.out(open.version);
    return 0;
  }
  const command = COMMANDS.find(({ name }) => isCalled(name, argv));
  if (!command && isGroup(argv[0]) && asksForHelp(argv.slice(1))) return help(open, argv.slice(0, 1));
  if (!command) throw unknown(argv);
  const args = argv.slice(command.name.split(' ').length);
  if (asksForHelp(args)) return help(open, [command.name]);
  return command.run(open, readArguments(command, args));
}

const asksForHelp = (args: readonly string[]) => args.includes('--help') || args.includes('-h');

/** A word with which several commands begin: `keys`. */
const isGroup = (word: string | undefined) => COMMANDS.some(({ name }) => name.startsWith(`${word} `));

function isCalled(name: string, argv: readonly string[]): boolean {
  return name.split(' ').every((word, at) => argv[at] === word);
}

function unknown([first = '', second]: string[]): UsageError {
  const siblings = COMMANDS.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  if (siblings.length > 0) return new UsageError(`Use one of: modelport ${siblings.join(', modelport ')}.`);
  const typed = first.startsWith('-') || (second ?? '-').startsWith('-') ? first : `${first} ${second}`;
  return new UsageError(`There is no command "${typed}". "modelport help" lists them.`);
}

function help(open: CliDeps, [...words]: string[]): number {
  const named = words.join(' ');
  const shown = COMMANDS.filter(({ name }) => name === named || name.startsWith(named && `${named} `));
  if (shown.length === 0) throw unknown(words);
  const width = Math.max(...shown.map(({ name }) => name.length));
  const lines = named
    ? shown.flatMap((command) => [usageOf(command), `  ${command.summary}`])
    : [
        'modelport: one service, one key, in front of every AI provider.',
        '',
        ...shown.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
        '',
        '"modelport help COMMAND" shows details. Lists support --json. --version shows the version.',
        'serve, migrate, doctor, ledger, backup and restore open the database. All others call a server: --url URL or MODELPORT_URL,',
        'with an admin key: --key-file FILE, MODELPORT_ADMIN_KEY or MODELPORT_ADMIN_KEY_FILE.',
      ];
  for (const line of lines) open.terminal.out(line);
  return 0;
}

function sentenceOf(thrown: unknown): string {
  // The error for API callers suggests a retry; a person who runs a command needs the reason.
  if (thrown instanceof GatewayError && thrown.code === 'database_unavailable' && thrown.cause instanceof Error)
    return `The database cannot be used: ${thrown.cause.message}.`;
  if (thrown instanceof UsageError || thrown instanceof GatewayError) return thrown.message;
  return thrown instanceof Error ? thrown.message : String(thrown);
}
