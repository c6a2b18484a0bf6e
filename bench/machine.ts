/** What the machine does besides the benchmark: a figure from a busy machine is worth less, and its reader has to know. */
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { PROCESS_SOURCE, spentBy } from './processes.ts';

/** A moment of the machine, to be compared with a later one. */
export interface MachineMoment {
  at: number;
  /** Of all cores; NaN if the system does not tell. */
  busyMicroseconds: number;
  /** Of the benchmark with everything that it started. */
  ownMicroseconds: number;
}

export interface MachineUse {
  /** Cores that other programs used. NaN if unknown. */
  otherCores: number;
  /** The load average of the last minute. */
  load: number;
}

const TICK_MICROSECONDS = 10_000;

export function machineNow(): MachineMoment {
  const busyMicroseconds = PROCESS_SOURCE === 'proc' ? readBusy(readFileSync('/proc/stat', 'utf8')) : Number.NaN;
  return { at: performance.now(), busyMicroseconds, ownMicroseconds: spentBy(process.pid) };
}

/** The first line of /proc/stat: user, nice, system, idle, waiting for disks, interrupts; guests are part of user time. */
export function readBusy(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (stat.split('\n')[0] ?? '')
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) * TICK_MICROSECONDS;
}

/** What other programs used between two moments. */
export function otherCores(from: MachineMoment, to: MachineMoment): number {
  const busy = to.busyMicroseconds - from.busyMicroseconds;
  const own = to.ownMicroseconds - from.ownMicroseconds;
  return Math.max(0, busy - own) / ((to.at - from.at) * 1000);
}

export const useSince = (from: MachineMoment): MachineUse => ({
  otherCores: otherCores(from, machineNow()),
  load: loadavg()[0] ?? Number.NaN,
});

export const coreCount = (): number => cpus().length;
