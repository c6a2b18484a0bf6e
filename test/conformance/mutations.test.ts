/** A provider's answer is hostile by law: every recording, mutated, through every client's format, under a memory ceiling. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { hasFixtures } from '../fixtures.ts';

const SEED = Number(process.env.MODELPORT_SEED ?? 20_261_122);
/** Of each recording; a nightly run takes more. */
const MUTATIONS = Number(process.env.MODELPORT_MUTATIONS ?? 2);
const CEILING_MEGABYTES = 512;
/** Far fewer would mean that the recordings were not read. */
const LEAST_CASES = 5000;

interface Outcome {
  cases: number;
  errors: number;
  peakMegabytes: number;
  faults: string[];
}

describe.skipIf(!hasFixtures)('recordings', () => {
  test('mutated in numbers, types, lengths, order and repetition, none costs unbounded work or fails on our side', async () => {
    const script = join(import.meta.dir, 'mutate-replies.ts');
    const child = Bun.spawn([process.execPath, script, String(SEED), String(MUTATIONS)], { stdout: 'pipe' });
    const { cases, errors, peakMegabytes, faults }: Outcome = JSON.parse(await child.stdout.text());
    expect(faults).toEqual([]);
    expect(cases).toBeGreaterThan(LEAST_CASES);
    // Some mutations must break replies, and be told so.
    expect(errors).toBeGreaterThan(0);
    expect(peakMegabytes).toBeLessThan(CEILING_MEGABYTES);
  }, 120_000);
});
