/**
 * The processor time of a process and its descendants by the scheduler's own count, thread by thread and in nanoseconds, so that a window of
 * half a second is exact. The system's other count has hundredths of a second, which is what is read where this one is missing.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { loopMicroseconds, PROCESS_SOURCE, processRows, treeOf, treeUse } from './processes.ts';

export interface CpuTimes {
  /** Of all threads. */
  allUs: number;
  /** Of the main threads: of Modelport its event loops, without the compilers, the collector and SQLite's writer. */
  loopUs: number;
}

/** Reads the time so far. */
export type CpuClock = () => CpuTimes;

const hasSchedstat = PROCESS_SOURCE === 'proc' && existsSync('/proc/self/schedstat');

export function cpuClock(root: number): CpuClock {
  if (!hasSchedstat) return () => ({ allUs: treeUse(root).cpuMicroseconds, loopUs: loopMicroseconds(root) });
  // Threads that have ended keep what they had when they were last seen.
  const threads = new Map<string, ThreadTime>();
  return () => {
    for (const { pid } of treeOf(root, processRows())) readThreads(pid, threads);
    return sumOf([...threads.values()]);
  };
}

interface ThreadTime {
  microseconds: number;
  isMain: boolean;
}

function readThreads(pid: number, into: Map<string, ThreadTime>): void {
  for (const thread of readOrNothing(() => readdirSync(`/proc/${pid}/task`)) ?? []) {
    const path = `/proc/${pid}/task/${thread}/schedstat`;
    const line = readOrNothing(() => readFileSync(path, 'utf8'));
    if (line !== undefined) into.set(path, { microseconds: readSchedstat(line), isMain: thread === String(pid) });
  }
}

/** Nothing if the process or thread has ended meanwhile. */
function readOrNothing<Content>(read: () => Content): Content | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** `/proc/PID/task/TID/schedstat`: time on a processor and time of waiting for one, in nanoseconds, and the number of turns. */
export function readSchedstat(line: string): number {
  return Number.parseInt(line, 10) / 1000;
}

export function sumOf(threads: readonly ThreadTime[]): CpuTimes {
  const sum = (some: readonly ThreadTime[]) => some.reduce((total, { microseconds }) => total + microseconds, 0);
  return { allUs: sum(threads), loopUs: sum(threads.filter(({ isMain }) => isMain)) };
}
