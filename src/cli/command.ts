/** A command as a row: its words, its options, and the function that runs it. */
import { parseArgs } from 'node:util';
import type { Opener } from './cli-deps.ts';

export interface Command {
  /** What one types: `keys create`. */
  name: string;
  /** What follows: `ACCOUNT AMOUNT [--note TEXT]`. */
  usage: string;
  summary: string;
  /** Options beside `--json`, each with a value unless `boolean`. */
  options?: { readonly [name: string]: { type: 'string' | 'boolean'; short?: string } };
  /** It opens the database of this machine, or none; every other command asks a server, which options name. */
  isLocal?: true;
  /** How many words may follow. */
  words: readonly [least: number, most: number];
  /** Resolves with the exit code. */
  run(open: Opener, given: Given): Promise<number>;
}

export interface Given {
  words: string[];
  /** An option's value; `undefined` where it was not given. */
  option(name: string): string | undefined;
  flag(name: string): boolean;
  /** `--json`: for machines. */
  json: boolean;
}

/** Which server a command asks. */
export const SERVER_OPTIONS = { url: { type: 'string' }, 'key-file': { type: 'string' } } as const;

/** A mistake of whoever typed the command: one sentence, exit 1. */
export class UsageError extends Error {}

/** Throws UsageError where the words and options are not those of the command. */
export function readArguments(command: Command, args: string[]): Given {
  const parsed = parse(command, args);
  const [least, most] = command.words;
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
  return `modelport ${name}${usage && ` ${usage}`}`;
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
