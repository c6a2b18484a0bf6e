/** What most end-to-end test files share: one gateway and one client library, started before the tests and stopped after them. */
import { afterAll, afterEach, beforeAll } from 'bun:test';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';
import { forTests, onceStarted } from './for-tests.ts';
import type { GatewaySetup } from './gateway-process.ts';
import { type Scene, startScene } from './scene.ts';

/** Starting a gateway takes about a second, and much longer on a busy machine. */
const START_MS = 60_000;
/** The first start of a client installs its library. */
const INSTALL_MS = 320_000;

/**
 * Starts a gateway for this test file. Its ledger and log are checked after each test and when it is stopped at the end.
 * `checksEachTest: false`: for tests that leave work in progress to the next ones.
 *
 * @example
 * const scene = useScene({ environment: { MODELPORT_SANDBOX: 'on' } });
 * test('…', async () => { const stage = await scene.stage(); });
 */
export function useScene(setup: GatewaySetup = {}, { checksEachTest = true } = {}): Scene {
  let started: Scene | undefined;
  beforeAll(async () => {
    started = await startScene(setup);
  }, START_MS);
  if (checksEachTest) afterEach(() => started?.assertClean(), START_MS);
  afterAll(() => started?.close(), START_MS);
  return onceStarted(() => started);
}

/** Starts a client library or a mock upstream for this test file and stops it at the end. */
export function useClient<Client extends { stop(): void | Promise<void> }>(start: () => Promise<Client>): Client {
  return forTests(start, (client) => client.stop(), { startMs: INSTALL_MS, stopMs: START_MS });
}

/** Starts a scripted upstream for this test file, without a gateway, and closes it at the end. */
export function useUpstream(): ScriptedUpstream {
  return forTests(startScriptedUpstream, (upstream) => upstream.close(), { startMs: START_MS, stopMs: START_MS });
}
