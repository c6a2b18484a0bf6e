/** Identifies processes across restarts and namespaces, and finds out whether a process on this machine has ended. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { newId } from '../canonical/id.ts';
import type { ProcessStatus } from './ledger.ts';

/** Process ids are reused, and exist in every PID namespace: only all of these members together identify a process. */
export interface ProcessIdentity {
  host: string;
  /** The boot id: unique for each start of each machine. */
  boot: string;
  /** The PID namespace, and the time namespace in which `start` is counted. */
  namespaces: string;
  pid: number;
  /** Start time in clock ticks since boot. */
  start: string;
}

/** The result of looking up a process id in this namespace. `undefined`: there is a process, but nothing more is known. */
export type Looked = { start: string; ended: boolean } | 'missing' | undefined;

const ID_LENGTH = 12;
const SEPARATOR = '@';
/** In `/proc/…/stat` after the name in parentheses, which may contain anything: the state is member 1, the start time member 20. */
const START_MEMBER = 19;
/** Zombie and dead states: the process no longer runs. */
const ENDED_STATES = new Set(['Z', 'X', 'x']);

/** A unique name that contains the process's identity, if the system provides it. */
export function newOwner(me: ProcessIdentity | undefined = ownIdentity()): string {
  const id = newId('proc_', ID_LENGTH);
  if (!me) return id;
  return [id, `${me.pid}.${me.start}`, me.boot, me.namespaces, me.host].join(SEPARATOR);
}

/** What this machine knows of an owner; `unknown` if the process may be alive but not visible from here. */
export function processStatusOf(owner: string): ProcessStatus {
  return judge(owner, ownIdentity(), look);
}

/** A process of another boot may be on another machine with the same name; one in another namespace is not visible from here. */
export function judge(owner: string, me: ProcessIdentity | undefined, look: (pid: number) => Looked): ProcessStatus {
  const other = identityOf(owner);
  if (!me || !other) return 'unknown';
  if (other.host !== me.host || other.boot !== me.boot || other.namespaces !== me.namespaces) return 'unknown';
  const found = look(other.pid);
  if (found === 'missing') return 'gone';
  if (!found) return 'unknown';
  return found.ended || found.start !== other.start ? 'gone' : 'alive';
}

function identityOf(owner: string): ProcessIdentity | undefined {
  const [, process, boot, namespaces, ...host] = owner.replace(/#\d+$/, '').split(SEPARATOR);
  const [, pid, start] = /^(\d+)\.(\d+)$/.exec(process ?? '') ?? [];
  if (!boot || !namespaces || start === undefined) return undefined;
  return { host: host.join(SEPARATOR), boot, namespaces, pid: Number(pid), start };
}

let own: ProcessIdentity | undefined;

/** `undefined` without `/proc`, or if it belongs to another namespace. */
export function ownIdentity(): ProcessIdentity | undefined {
  own ??= readIdentity();
  return own;
}

function readIdentity(): ProcessIdentity | undefined {
  try {
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined;
    const found = readStat(process.pid);
    if (!found) return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const namespaces = `${namespace('pid')}.${namespace('time')}`;
    return { host: hostname(), boot, namespaces, pid: process.pid, start: found.start };
  } catch {
    return undefined;
  }
}

/** The number in `pid:[4026531836]`. Kernels before 5.6 have no time namespaces. */
function namespace(kind: 'pid' | 'time'): string {
  try {
    return readlinkSync(`/proc/self/ns/${kind}`).replace(/\D/g, '');
  } catch (thrown) {
    if (kind === 'time') return '0';
    throw thrown;
  }
}

/** Checks with a signal first: `/proc` may hide processes of other users. */
function look(pid: number): Looked {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as { code?: string }).code === 'ESRCH' ? 'missing' : readStat(pid);
  }
  return readStat(pid);
}

function readStat(pid: number): Exclude<Looked, 'missing'> {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const members = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const start = members[START_MEMBER];
    return start === undefined ? undefined : { start, ended: ENDED_STATES.has(members[0] ?? '') };
  } catch {
    return undefined;
  }
}
