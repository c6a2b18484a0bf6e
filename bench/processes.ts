/** CPU time and memory of a process and all its descendants, as the system counts them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ProcessRow {
  pid: number;
  parent: number;
  /** User and system time so far. */
  cpuMicroseconds: number;
  /** The same of its children that have ended. */
  endedMicroseconds: number;
  residentBytes: number;
}

export interface TreeUse {
  cpuMicroseconds: number;
  residentMb: number;
  /** Of the largest process. */
  largestMb: number;
}

/** `proc` if the kernel has /proc, otherwise `ps`, with a lower resolution. */
export const PROCESS_SOURCE = existsSync('/proc/self/stat') ? 'proc' : 'ps';

const MB = 1_000_000;

export function treeUse(root: number, rows = processRows()): TreeUse {
  const tree = treeOf(root, rows);
  const bytes = tree.map(({ residentBytes }) => residentBytes);
  return {
    cpuMicroseconds: tree.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0),
    residentMb: bytes.reduce((sum, one) => sum + one, 0) / MB,
    largestMb: Math.max(0, ...bytes) / MB,
  };
}

/** The time of a process and of all that it started, ended or not. */
export function spentBy(root: number, rows = processRows()): number {
  return treeOf(root, rows).reduce((sum, row) => sum + row.cpuMicroseconds + row.endedMicroseconds, 0);
}

/**
 * The time of the main threads of a process and its descendants: of Modelport its event loops, without the threads of the compilers, the
 * collector and SQLite. NaN if the system does not tell.
 */
export function loopMicroseconds(root: number, rows = processRows()): number {
  if (PROCESS_SOURCE !== 'proc') return Number.NaN;
  return treeOf(root, rows).reduce((sum, { pid }) => sum + mainThread(pid), 0);
}

function mainThread(pid: number): number {
  try {
    return readStat(readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')).cpuMicroseconds;
  } catch {
    // it ended meanwhile
    return 0;
  }
}

export function treeOf(root: number, rows: readonly ProcessRow[]): ProcessRow[] {
  const tree = rows.filter(({ pid }) => pid === root);
  for (const { pid } of tree) tree.push(...rows.filter(({ parent }) => parent === pid));
  return tree;
}

export function processRows(): ProcessRow[] {
  return PROCESS_SOURCE === 'proc' ? rowsOfProc() : rowsOfPs();
}

function rowsOfProc(): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      rows.push(readStat(readFileSync(`/proc/${entry}/stat`, 'utf8')));
    } catch {
      // it ended meanwhile
    }
  }
  return rows;
}

/** The unit of the times in `/proc` on Linux: hundredths of a second. */
const TICK_MICROSECONDS = 10_000;
const PAGE_BYTES = 4096;

/** Parses a line of `/proc/PID/stat`; the name in brackets may contain anything. */
export function readStat(line: string): ProcessRow {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return {
    pid: Number.parseInt(line, 10),
    parent: field(4),
    cpuMicroseconds: (field(14) + field(15)) * TICK_MICROSECONDS,
    endedMicroseconds: (field(16) + field(17)) * TICK_MICROSECONDS,
    residentBytes: field(24) * PAGE_BYTES,
  };
}

function rowsOfPs(): ProcessRow[] {
  const { stdout } = Bun.spawnSync(['ps', '-axo', 'pid=,ppid=,time=,rss=']);
  return stdout
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(readPsLine);
}

/** `  12     1   1:02.50  20480`: the time as [[days-]hours:]minutes:seconds, the memory in KiB. */
export function readPsLine(line: string): ProcessRow {
  const [pid, parent, time = '', kib] = line.trim().split(/\s+/);
  const [clock = '', days = '0'] = time.split('-').reverse();
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400;
  return {
    pid: Number(pid),
    parent: Number(parent),
    cpuMicroseconds: seconds * 1_000_000,
    endedMicroseconds: 0,
    residentBytes: Number(kib) * 1024,
  };
}
