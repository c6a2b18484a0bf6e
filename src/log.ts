/** The log: one line of JSON per event, in the shape pino writes and its tools read. Never a prompt, a reply or a secret. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

const NUMBERS: { [level in LogLevel]: number } = { debug: 20, info: 30, warn: 40, error: 50, silent: 100 };
/** Lines are gathered this long, then written at once: a system call a line would cost more than the line. */
const GATHER_MS = 50;

export interface Log {
  info(message: string, members?: object): void;
  warn(message: string, members?: object): void;
  error(message: string, members?: object): void;
  /** Writes what has been gathered. */
  flush(): void;
}

/** `write` receives whole lines; they say which of several processes wrote them. */
export function createLog(
  level: LogLevel,
  write: (lines: string) => void,
  now: () => number,
  process?: number | undefined,
): Log {
  const from = process === undefined ? '' : `,"process":${process}`;
  let gathered = '';
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (gathered === '') return;
    const lines = gathered;
    gathered = '';
    write(lines);
  }

  const line = (lineLevel: LogLevel) => (message: string, members?: object) => {
    if (NUMBERS[lineLevel] < NUMBERS[level]) return;
    const rest = members ? JSON.stringify(members).slice(1) : '}';
    const head = `{"level":${NUMBERS[lineLevel]},"time":${now()}${from},"msg":${JSON.stringify(message)}`;
    gathered += `${head}${rest === '}' ? rest : `,${rest}`}\n`;
    timer ??= setTimeout(flush, GATHER_MS);
  };

  return { info: line('info'), warn: line('warn'), error: line('error'), flush };
}

/** A failure as members of a line, causes included. */
export function errorMembers(thrown: unknown): object {
  if (!(thrown instanceof Error)) return { err: thrown };
  const { name, message, cause } = thrown;
  return { err: { type: name, message, ...(cause !== undefined && { cause: errorMembers(cause) }) } };
}
