/** For tests of the cache: a bench whose keys have one. */
import { expect } from 'bun:test';
import { issueKey } from '../../src/access/key.ts';
import { newId } from '../../src/canonical/id.ts';
import type { Answer, ByteSource } from '../../src/http1/answer.ts';
import type { KeyRow } from '../../src/store/rows.ts';
import { forTests } from './for-tests.ts';
import {
  type CaseSetup,
  FakeSink,
  type GatewayBench,
  type GatewayCase,
  PRICE,
  startGatewayBench,
} from './gateway-bench.ts';

/** In seconds. */
export const HOUR = 3600;

export interface CacheBench {
  readonly bench: GatewayBench;
  open(setup?: CaseSetup): Promise<GatewayCase>;
  /** Another key of the same account. */
  secondKey(at: GatewayCase, more: Partial<KeyRow>): Promise<string>;
  /** Expects a ledger without faults after everything. */
  close(): Promise<void>;
}

async function startCacheBench(): Promise<CacheBench> {
  const bench = await startGatewayBench();
  return {
    bench,
    open: (setup = {}) =>
      bench.open({ ...setup, key: { cacheSeconds: HOUR, ...setup.key }, model: { price: PRICE, ...setup.model } }),
    async secondKey(at, more) {
      const { key, hash, last4 } = issueKey('caller');
      const { account } = at.caller;
      const at0 = at.deps.now();
      const row: KeyRow = { id: newId('key_'), account, kind: 'caller', name: 'k', hash, last4, createdAt: at0 };
      await bench.store.createKey({ ...row, ...more });
      return key;
    },
    async close() {
      expect((await bench.store.verify()).faults).toEqual([]);
      await bench.close();
    },
  };
}

/** The bench of a test file, open while its tests run. */
export const cacheBench = () => forTests(startCacheBench, (started) => started.close());

export const cacheStatus = ({ headers }: Answer) => headers['x-modelport-cache'];

export async function textOf({ body }: Answer): Promise<string> {
  if (body instanceof Uint8Array || typeof body === 'string') return Buffer.from(body).toString();
  const sink = new FakeSink();
  (body as ByteSource).start(sink);
  expect(await sink.over).toBe('ended');
  return sink.text;
}

export const contentOf = async (answer: Answer) => JSON.parse(await textOf(answer)).choices[0].message.content;

/** Nothing of any call is left. */
export async function expectClean(at: GatewayCase): Promise<void> {
  expect(await at.held()).toBe(0n);
  expect([at.gateway.active, at.loads.size, at.unreleased(), at.troubles]).toEqual([0, 0, 0, []]);
}
