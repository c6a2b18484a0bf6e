/** How much memory this process may use: what was set, or most of what the container or the machine has, divided by its processes. */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** Of what is there: the rest is for the system, and for what comes between two readings. */
const SHARE = 0.75;
/** The limits of cgroups, version 2 and 1; `max`, or a number beyond every machine, is none. */
const LIMITS = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'];

/** `set`: 0 where nothing was. */
export function memoryBudget(set: number, processes: number, limits = LIMITS, machine = totalmem()): number {
  if (set > 0) return set;
  return Math.floor((Math.min(machine, ...limits.map(limitIn)) * SHARE) / processes);
}

function limitIn(path: string): number {
  try {
    const limit = Number(readFileSync(path, 'utf8'));
    return limit > 0 ? limit : Infinity;
  } catch {
    return Infinity;
  }
}
