/** What commands have in common: lists, and changes of what a command names. */
import { type AdminClient, part, type Query } from './admin-client.ts';
import type { CliDeps } from './cli-deps.ts';
import type { Command, Given } from './command.ts';
import { adminOf } from './opened.ts';
import { type PrintedRow, printRow, printRows } from './printed.ts';

type RowOf<Shown> = (shown: Shown, open: CliDeps) => PrintedRow;

/** A command that calls the admin API. Its exit code is 0 unless `run` resolves with another. */
export function adminCommand(
  command: Omit<Command, 'run'>,
  run: (admin: AdminClient, open: CliDeps, given: Given) => Promise<number> | Promise<void>,
): Command {
  return {
    ...command,
    async run(open, given) {
      const exitCode = await run(adminOf(open, given), open, given);
      return exitCode ?? 0;
    },
  };
}

interface Listed<Shown> {
  path: string;
  /** The list has no pages. */
  isWhole?: true;
  query?(given: Given): Query;
  row: RowOf<Shown>;
  /** Printed if there are none. */
  empty: string;
}

/** A command that prints a list of the admin API, one row for each. */
export function listCommand<Shown>(
  command: Omit<Command, 'run'>,
  { path, isWhole, query, row, empty }: Listed<Shown>,
): Command {
  return adminCommand(command, async (admin, open, given) => {
    const all = isWhole
      ? (await admin.get<{ data: Shown[] }>(path)).data
      : await admin.list<Shown>(path, query?.(given));
    const rows = all.map((shown) => row(shown, open));
    printRows(open, given, rows, empty);
  });
}

/** Sends a change to the admin API: `path` follows the path of what the command names. */
export type Change = (
  open: CliDeps,
  given: Given,
  method: 'POST' | 'PUT' | 'PATCH',
  path: string,
  body?: object,
) => Promise<number>;

/** Changes one of `collection`, which the command's first argument names, and prints it as changed. */
export function changeIn<Shown>(collection: string, row: RowOf<Shown>): Change {
  return async (open, given, method, path, body) => {
    const [name = ''] = given.words;
    const after = await adminOf(open, given).send<Shown>(method, `/${collection}/${part(name)}${path}`, body);
    printRow(open, given, row(after, open));
    return 0;
  };
}

/** A command that deletes one of `collection`, which its argument names, and prints what the server answers. */
export function deleteCommand(command: Omit<Command, 'run'>, collection: string): Command {
  return adminCommand(command, async (admin, open, given) => {
    const [name = ''] = given.words;
    printRow(open, given, await admin.send('DELETE', `/${collection}/${part(name)}`));
  });
}

/** The commands `NOUN disable` and `NOUN enable`. */
export function switchCommands(
  noun: string,
  usage: string,
  change: Change,
  summaries: { readonly disable: string; readonly enable: string },
): [disable: Command, enable: Command] {
  const command = (verb: 'disable' | 'enable'): Command => ({
    name: `${noun} ${verb}`,
    usage,
    summary: summaries[verb],
    run: (open, given) => change(open, given, 'POST', `/${verb}`),
  });
  return [command('disable'), command('enable')];
}
