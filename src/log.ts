/** The log: one line of JSON per event, in the shape pino writes and its tools read. Never a prompt, a reply or a secret. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

const NUMBERS: { [level in LogLevel]: number } = { debug: 20, info: 30, warn: 40, error: 50, silent: 100 };
/** Events are gathered this long, then written at once: a system call a line would cost more than the line, and a line between two calls costs three times one of many. */
const GATHER_MS = 50;

/** What a line holds beside its message, or what gives it when the line is written: nobody changes it any more. */
export type Members = object | (() => object);

export interface Log {
  info(message: string, members?: Members): void;
  warn(message: string, members?: Members): void;
  error(message: string, members?: Members): void;
  /** Writes what has been gathered. */
  flush(): void;
}

interface Event {
  level: LogLevel;
  time: number;
  message: string;
  members: Members | undefined;
}

/** `write` receives whole lines; they say which of several processes wrote them. */
export function createLog(
  level: LogLevel,
  write: (lines: string) => void,
  now: () => number,
  process?: number | undefined,
): Log {
  const from = process === undefined ? '' : `,"process":${process}`;
  let gathered: Event[] = [];
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

  const gather = (of: LogLevel) => (message: string, members?: Members) => {
    if (NUMBERS[of] < NUMBERS[level]) return;
    gathered.push({ level: of, time: now(), message, members });
    timer ??= setTimeout(flush, GATHER_MS);
  };

  return { info: gather('info'), warn: gather('warn'), error: gather('error'), flush };
}

function lineOf({ level, time, message, members }: Event, from: string): string {
  const rest = members ? written(members).slice(1) : '}';
  const head = `{"level":${NUMBERS[level]},"time":${time}${from},"msg":${JSON.stringify(message)}`;
  return `${head}${rest === '}' ? rest : `,${rest}`}\n`;
}

/** What cannot be written takes no other line with it. */
function written(members: Members): string {
  try {
    return JSON.stringify(typeof members === 'function' ? members() : members);
  } catch (thrown) {
    return JSON.stringify({ unwritten: String(thrown) });
  }
}

/** A failure as members of a line, causes included. */
export function errorMembers(thrown: unknown): object {
  if (!(thrown instanceof Error)) return { err: thrown };
  const { name, message, cause } = thrown;
  return { err: { type: name, message, ...(cause !== undefined && { cause: errorMembers(cause) }) } };
}
