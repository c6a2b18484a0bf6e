import { afterAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ENGINES, freshStore } from '../../test/helpers/engines.ts';
import { createLedger } from './prepaid-ledger.ts';
import {
  judge,
  type Looked,
  newOwner,
  ownIdentity,
  type ProcessIdentity,
  processStatusOf,
} from './process-identity.ts';
import { loadHold, openAccount } from './random-load.ts';

const ME: ProcessIdentity = { host: 'localhost', boot: 'boot-1', namespaces: '1.2', pid: 7, start: '100' };
const other = (change: Partial<ProcessIdentity>) => newOwner({ ...ME, pid: 8, ...change });
const finds = (found: Looked) => () => found;

describe('the status of an owner', () => {
  test.each<[string, Partial<ProcessIdentity>, Looked, string]>([
    ['missing in our own namespace', {}, 'missing', 'gone'],
    ['there, with the recorded start time', {}, { start: '100', ended: false }, 'alive'],
    ['its number used again', {}, { start: '200', ended: false }, 'gone'],
    ['ended, but not yet waited for', {}, { start: '100', ended: true }, 'gone'],
    ['there, but hidden', {}, undefined, 'unknown'],
    ['in another PID namespace', { namespaces: '3.2' }, 'missing', 'unknown'],
    ['in another time namespace', { namespaces: '1.4' }, { start: '200', ended: false }, 'unknown'],
    ['of another boot under the same host name', { boot: 'boot-2' }, 'missing', 'unknown'],
    ['of another host', { host: 'elsewhere' }, 'missing', 'unknown'],
  ])('%s', (_, change, found, processStatus) => {
    expect(judge(other(change), ME, finds(found))).toBe(processStatus as never);
    expect(judge(`${other(change)}#12`, ME, finds(found))).toBe(processStatus as never);
  });

  test('is unknown if its name or the system gives no information', () => {
    for (const name of ['tasks', 'proc_1', 'proc_1@8@localhost', newOwner({ ...ME, host: '' }).replace('100', '')]) {
      expect(judge(name, ME, finds('missing'))).toBe('unknown');
    }
    expect(judge(other({}), undefined, finds('missing'))).toBe('unknown');
  });
});

/** Prints its own name and the status of another process, and waits to be killed. */
const CHILD = `
  const { newOwner, processStatusOf } = await import(${JSON.stringify(join(import.meta.dir, 'process-identity.ts'))});
  process.stdout.write(newOwner() + ' ' + processStatusOf(process.argv.at(-1)) + '\\n');
  setInterval(() => {}, 1000);
`;

const children: Bun.Subprocess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

async function startChild(prefix: readonly string[], judged: string) {
  const command = [...prefix, process.execPath, '-e', CHILD, judged];
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' });
  children.push(child);
  const { value } = await child.stdout.getReader().read();
  const [owner = '', processStatus = ''] = new TextDecoder().decode(value).trim().split(' ');
  return { child, owner, processStatus };
}

describe.skipIf(!ownIdentity())('on this machine', () => {
  test('a process is alive until it is killed, and this process is alive', async () => {
    const me = newOwner();
    const { child, owner, processStatus } = await startChild([], me);
    expect([processStatusOf(me), processStatus, processStatusOf(owner)]).toEqual(['alive', 'alive', 'alive']);
    child.kill('SIGKILL');
    await child.exited;
    expect(processStatusOf(owner)).toBe('gone');
  });
});

const NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const canUnshare = spawnSync(NAMESPACE[0]!, [...NAMESPACE.slice(1), 'true']).status === 0;
if (!canUnshare) console.warn('No PID namespaces may be made here: their test is skipped.');

describe.skipIf(!canUnshare || !ownIdentity()).each(ENGINES)('in another PID namespace, over $name', (engine) => {
  test('neither process ends the other’s calls, and after the lease any process does', async () => {
    const me = newOwner();
    const { child, owner, processStatus } = await startChild(NAMESPACE, me);
    expect(processStatus).toBe('unknown');
    expect(processStatusOf(owner)).toBe('unknown');
    const { store } = await freshStore(engine);
    const theirs = createLedger({ store, owner, now: Date.now });
    let ms = 0;
    const ours = createLedger({ store, owner: me, now: Date.now, monotonic: () => ms });
    await openAccount({ store, ledger: theirs }, 1000n);
    await theirs.hold(loadHold('call_1', 100n, { sentAt: 1, checkpoint: 7n }));
    const now = Date.now();
    expect(await ours.sweep(now, processStatusOf)).toBe(0);
    child.kill('SIGKILL');
    await child.exited;
    // Even now it may be alive but not visible.
    ms = 1000;
    expect(await ours.sweep(now, processStatusOf)).toBe(0);
    ms = 60_000;
    expect(await ours.sweep(now, processStatusOf)).toBe(1);
    expect(await store.call('call_1')).toMatchObject({ outcome: 'interrupted', cost: 7n });
    await store.close();
  });
});
