/** The log: one line of JSON per event, in pino's format. Never prompts, replies or secrets. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

const NUMBERS: { [level in LogLevel]: number } = { debug: 20, info: 30, warn: 40, error: 50, silent: 100 };
/**
 * Events are collected for this time and written at once: a system call costs more than a line, and a line between two calls costs three
 * times one in a batch.
 */
const GATHER_MS = 50;
/**
 * This many are written without waiting. What a waiting event refers to survives the garbage collections in between, which makes them
 * longer: at 7000 calls/s there would be 350 calls.
 */
const MOST_GATHERED = 64;

/** The members of a line besides its message, or a function that returns them when the line is written. They must not change any more. */
export type LogMembers = object | (() => object);

export interface Log {
  info(message: string, members?: LogMembers): void;
  warn(message: string, members?: LogMembers): void;
  error(message: string, members?: LogMembers): void;
  /** Writes what was collected. */
  flush(): void;
}

interface LogEvent {
  level: LogLevel;
  time: number;
  message: string;
  members: LogMembers | undefined;
}

/** `write` receives complete lines with the number of the process, if there are several. */
export function createLog(
  level: LogLevel,
  write: (lines: string) => void,
  now: () => number,
  process?: number | undefined,
): Log {
  const from = process === undefined ? '' : `,"process":${process}`;
  let gathered: LogEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.length === 0) return;
    let lines = '';
    for (const event of gathered) lines += lineOf(event, from);
    gathered = [];
    write(lines);
  }

  const gather = (of: LogLevel) => (message: string, members?: LogMembers) => {
    if (NUMBERS[of] < NUMBERS[level]) return;
    gathered.push({ level: of, time: now(), message, members });
    if (gathered.length === MOST_GATHERED) setImmediate(flush);
    timer ??= setTimeout(flush, GATHER_MS);
  };

  return { info: gather('info'), warn: gather('warn'), error: gather('error'), flush };
}

function lineOf({ level, time, message, members }: LogEvent, from: string): string {
  const rest = members ? written(members).slice(1) : '}';
  const head = `{"level":${NUMBERS[level]},"time":${time}${from},"msg":${JSON.stringify(message)}`;
  return `${head}${rest === '}' ? rest : `,${rest}`}\n`;
}

/** Members that cannot be written must not affect other lines. */
function written(members: LogMembers): string {
  try {
    return JSON.stringify(typeof members === 'function' ? members() : members);
  } catch (thrown) {
    return JSON.stringify({ unwritten: String(thrown) });
  }
}

/** An error as members of a line, with its causes. */
export function errorMembers(thrown: unknown): object {
  if (!(thrown instanceof Error)) return { err: thrown };
  const { name, message, cause } = thrown;
  return { err: { type: name, message, ...(cause !== undefined && { cause: errorMembers(cause) }) } };
}
