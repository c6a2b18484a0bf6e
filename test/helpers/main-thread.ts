/** For tests that measure how long a gateway blocks its event loop: the processor time of its main thread, which other processes do not lengthen. */
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** The id of the process that was started for this port; none where there is no `/proc`. */
export function processOf(url: string): number | undefined {
  const { port } = new URL(url);
  try {
    for (const pid of readdirSync('/proc').map(Number))
      if (pid > 0 && environmentOf(pid).includes(`PORT=${port}`)) return pid;
  } catch {
    // There is no `/proc`.
  }
  return undefined;
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** What the main thread of this process has used so far, in steps of ten milliseconds; without a process, the time that has passed. */
export function mainThreadMs(pid: number | undefined): number {
  if (pid === undefined) return performance.now();
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
