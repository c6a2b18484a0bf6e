/**
 * How much memory this process may use: the configured value, or a share of the container's or machine's memory, divided by the number of
 * processes.
 */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** The rest is for the operating system and for growth between two readings. */
const SHARE = 0.75;
/** Limits of cgroups version 2 and 1. `max`, or a number larger than the machine's memory, means no limit. */
const LIMITS = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'];

/** `set`: the configured bytes, 0 if not configured. */
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
