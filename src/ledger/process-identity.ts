/** Which process an owner's name stands for, and whether this machine can tell that it has ended. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { newId } from '../canonical/id.ts';
import type { ProcessStatus } from './ledger.ts';

/** A process id is used again, by another process and in every PID namespace: only all of these together name one process. */
export interface ProcessIdentity {
  host: string;
  /** A machine has another one after each start, and two machines never have the same. */
  boot: string;
  /** The PID namespace, and the time namespace that `start` is counted in. */
  namespaces: string;
  pid: number;
  /** Clock ticks since the boot. */
  start: string;
}

/** What a look at a process id of our own namespace finds. `undefined`: there is a process, and no more can be told. */
export type Looked = { start: string; ended: boolean } | 'missing' | undefined;

const ID_LENGTH = 12;
const SEPARATOR = '@';
/** In `/proc/…/stat`, after the name in parentheses, which may hold anything: the state is the first member, the start the twentieth. */
const START_MEMBER = 19;
/** A zombie, and what is about to be none: it runs no more. */
const ENDED_STATES = new Set(['Z', 'X', 'x']);

/** A name that was never used before and never will be again, and says which process it is where the system tells. */
export function newOwner(me: ProcessIdentity | undefined = ownIdentity()): string {
  const id = newId('proc_', ID_LENGTH);
  if (!me) return id;
  return [id, `${me.pid}.${me.start}`, me.boot, me.namespaces, me.host].join(SEPARATOR);
}

/** What this machine knows of an owner; `unknown` where its process may be alive without being seen from here. */
export function processStatusOf(owner: string): ProcessStatus {
  return judge(owner, ownIdentity(), look);
}

/** Whoever was started on another boot may be on another machine of the same name; whoever is in another namespace is not seen from here. */
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

/** `undefined` where the system does not tell: without `/proc`, or with that of another namespace. */
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

/** The number in `pid:[4026531836]`; kernels before 5.6 have no time namespaces. */
function namespace(kind: 'pid' | 'time'): string {
  try {
    return readlinkSync(`/proc/self/ns/${kind}`).replace(/\D/g, '');
  } catch (thrown) {
    if (kind === 'time') return '0';
    throw thrown;
  }
}

/** Asks the system first: `/proc` may hide the processes of other users. */
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
