import { expect, test } from 'bun:test';
import type { Usage } from '../../canonical/usage.ts';
import { providerCost } from './figures.ts';

const used: Usage = { input: 1000, output: 100, source: 'reported' };
// Pico-USD per token.
const target = { cost: { input: 2_000_000n, output: 10_000_000n } };
const call = { target, rival: undefined, disputed: undefined, meter: { isContinued: false } };
const hedged: Usage = {
  ...used,
  hedge: { provider: 'b', targetModel: 'm', cost: '0', usage: { input: 500, output: 0, source: 'estimated' } },
};
const LIE: Usage = { input: 0, output: Number.MAX_SAFE_INTEGER, source: 'reported' };
const other = (cost?: { input: bigint }) => ({ asked: { target: cost ? { cost } : {} } });

test.each([
  ['by the cost of its target', used, call, 3_000_000n],
  ['nothing where nothing was delivered', undefined, call, 0n],
  ['nothing where the reply came from our cache', { ...used, source: 'cached' }, { ...call, target: undefined }, 0n],
  ['not known where the target has no cost', used, { ...call, target: {} }, undefined],
  ['not known where nothing was delivered by such a target', undefined, { ...call, target: {} }, undefined],
  ['not known where the report was not believed', used, { ...call, disputed: {} }, undefined],
  ['not known where two targets wrote the reply', used, { ...call, meter: { isContinued: true } }, undefined],
  [
    'both requests of a hedged call, each at its own',
    hedged,
    { ...call, rival: other({ input: 4_000_000n }) },
    5_000_000n,
  ],
  // A model with a price by the call: its charge is that price whatever the provider reports.
  ['not known by a report that no integer of the database can hold', LIE, call, undefined],
  ['not known where the other target has no cost', hedged, { ...call, rival: other() }, undefined],
] as const)('what a provider charges: %s', (_, usage, context, cost) => {
  expect(providerCost(usage, context)).toBe(cost);
});
