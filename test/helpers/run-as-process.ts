/** For tests: runs one command as in a separate process, with its own server settings and database connection. */
import { join } from 'node:path';
import type { CliDeps, Probed } from '../../src/cli/cli-deps.ts';
import { runCommand } from '../../src/cli/run-command.ts';
import { openFiles } from '../../src/files/open-files.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { createLedger } from '../../src/ledger/prepaid-ledger.ts';
import { createVerifier } from '../../src/ledger/verifier.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { askServer } from '../../src/transport/ask-server.ts';
import type { Loopback } from './loopback.ts';

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Sends requests to the edge, or to the server in `--url`. */
export async function runAsProcess(
  edge: Pick<Loopback, 'address' | 'adminKey' | 'settings'>,
  changes: Partial<CliDeps>,
  argv: readonly string[],
): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  let opened: Store | undefined;
  let ledger: Ledger | undefined;
  const store = async () => {
    opened ??= await openStore(edge.settings);
    return opened;
  };
  const open: CliDeps = {
    version: '1.2.3',
    terminal: { out: (line) => void out.push(line), err: (line) => void err.push(line) },
    now: Date.now,
    wait: () => Promise.resolve(false),
    server: ({ url = edge.address }) => ({ url, key: edge.adminKey, keyFrom: 'the test', certificate: undefined }),
    address: (url = edge.address) => ({ url, certificate: undefined }),
    ask: askServer,
    store,
    async ledger() {
      ledger ??= createLedger({ store: await store(), owner: 'cli', now: Date.now });
      return ledger;
    },
    verifier: async () =>
      createVerifier({
        store: await store(),
        owner: 'cli',
        key: () => 'k'.repeat(32),
        now: Date.now,
        reportError: () => {},
      }),
    files: () => openFiles({ folder: join(edge.settings.dataDir, 'files') }),
    async close() {
      await ledger?.flush();
      await opened?.close();
    },
    settings: () => [
      { name: 'PORT', value: '8080' },
      { name: 'MODELPORT_ADMIN_KEY', value: 'sk-admin-0123456789abcd', secret: true },
    ],
    serve: () => Promise.resolve(7),
    readForm: async (path) => (await Bun.file(path).json()) as object,
    liveChecks: () => Promise.resolve([{ check: 'disk', ok: true, state: 'enough' }]),
    probe: () => Promise.resolve<Probed>({ credential: 'there', answers: true }),
    ...changes,
  };
  const code = await runCommand([...argv], open);
  return { code, out: out.join('\n'), err: err.join('\n') };
}
