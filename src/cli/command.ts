/** The type of a command: its name, options, and the function that runs it. */
import { parseArgs } from 'node:util';
import type { CliDeps } from './cli-deps.ts';

export interface Command {
  /** The words that select it: `keys create`. */
  name: string;
  /** Its arguments, then its options: `ACCOUNT [NAME] [--note TEXT]`. Default: none. */
  usage?: string;
  summary: string;
  /** Options besides `--json`. Each has a value unless it is `boolean`. */
  options?: { readonly [name: string]: { type: 'string' | 'boolean'; short?: string } };
  /** Opens the local database, or nothing. Other commands call a server. */
  isLocal?: true;
  /** Resolves with the exit code. */
  run(open: CliDeps, given: Given): Promise<number>;
}

export interface Given {
  words: string[];
  /** The option's value, or `undefined` if it was not given. */
  option(name: string): string | undefined;
  flag(name: string): boolean;
  /** `--json`: output for programs. */
  json: boolean;
}

/** Options that select the server. */
const SERVER_OPTIONS = { url: { type: 'string' }, 'key-file': { type: 'string' } } as const;

/** An error in the user's input: one sentence, exit code 1. */
export class UsageError extends Error {}

/** Throws UsageError if arguments or options do not fit the command. */
export function readArguments(command: Command, args: string[]): Given {
  const parsed = parse(command, args);
  const [least, most] = wordCounts(command);
  const words = parsed.positionals;
  if (words.length < least || words.length > most) throw new UsageError(`Write: ${usageOf(command)}`);
  return {
    words,
    option(name) {
      const value = parsed.values[name];
      return typeof value === 'string' ? value : undefined;
    },
    flag: (name) => parsed.values[name] === true,
    json: parsed.values.json === true,
  };
}

export function usageOf({ name, usage }: Command): string {
  return `modelport ${name}${usage === undefined ? '' : ` ${usage}`}`;
}

/** The minimum and maximum number of arguments: the words of the usage before its first option, in brackets if they are optional. */
function wordCounts({ usage = '' }: Command): [least: number, most: number] {
  const [words = ''] = /^(\[?[A-Z]+\]? ?)*/.exec(usage) ?? [];
  const all = words.split(' ').filter((word) => word !== '');
  return [all.filter((word) => !word.startsWith('[')).length, all.length];
}

function parse(command: Command, args: string[]) {
  try {
    const options: NonNullable<Command['options']> = {
      ...command.options,
      ...(!command.isLocal && SERVER_OPTIONS),
      json: { type: 'boolean' },
    };
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (thrown) {
    const [sentence = ''] = String((thrown as Error).message).split('. ');
    throw new UsageError(`${sentence.replace(/\.$/, '')}. Write: ${usageOf(command)}`);
  }
}
