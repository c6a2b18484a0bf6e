/** Runs the HTTP fuzzer for long: `npm run fuzz -- [cases] [seed]`. Exits with 1 if it finds an unintended difference. */
import { fuzz } from '../src/http1/fuzz/fuzz.ts';
import { node, startNode } from '../src/http1/fuzz/node-peer.ts';

const [cases = 100_000, seed = Math.floor(Date.now() / 86_400_000)] = process.argv.slice(2).map(Number);
if (!node) {
  console.error('fuzz: node, the reference, is not installed');
  process.exit(1);
}
const peer = startNode(node);
const startedMs = performance.now();
const { cases: read, alike, allowed, faults } = await fuzz(peer, seed, cases);
peer.close();
for (const fault of faults.slice(0, 20)) console.error(JSON.stringify(fault));
const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
console.log(`fuzz: seed ${seed}, ${read} cases in ${seconds} s, ${alike} read alike, ${faults.length} faults`);
for (const [name, count] of Object.entries(allowed)) console.log(`  on purpose ${count} x ${name}`);
process.exit(faults.length === 0 ? 0 : 1);
