/** A provider's answer is hostile by law: every recording, mutated, through every client's format, under a memory ceiling. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { hasFixtures } from '../fixtures.ts';

const SEED = Number(process.env.MODELPORT_SEED ?? 20_261_122);
/** Of each recording, and of each of the fewer replies that are no conversations; a nightly run takes more. */
const MUTATIONS = Number(process.env.MODELPORT_MUTATIONS ?? 2);
const OTHERS = 3 * MUTATIONS;
const CEILING_MEGABYTES = 512;
/** Far fewer would mean that the replies were not read. */
const LEAST_CASES = 5000;
const LEAST_OTHERS = 1500;

interface Outcome {
  cases: number;
  errors: number;
  peakMegabytes: number;
  faults: string[];
}

/** In a process of its own, whose memory is watched. */
async function run(script: string, mutations: number): Promise<Outcome> {
  const command = [process.execPath, join(import.meta.dir, script), String(SEED), String(mutations)];
  const child = Bun.spawn(command, { stdout: 'pipe' });
  return JSON.parse(await child.stdout.text());
}

function expectBounded({ cases, errors, peakMegabytes, faults }: Outcome, least: number): void {
  expect(faults).toEqual([]);
  expect(cases).toBeGreaterThan(least);
  // Some mutations must break replies, and be told so.
  expect(errors).toBeGreaterThan(0);
  expect(peakMegabytes).toBeLessThan(CEILING_MEGABYTES);
}

describe.skipIf(!hasFixtures)(
  'replies mutated in numbers, types, lengths, order and repetition cost no unbounded work and are no failure of ours',
  () => {
    test('recorded conversations, in every format', async () => {
      expectBounded(await run('mutate-replies.ts', MUTATIONS), LEAST_CASES);
    }, 120_000);

    test('images, speech, transcripts, vectors, rankings, ratings and videos, on the whole way of a call', async () => {
      expectBounded(await run('mutate-other-replies.ts', OTHERS), LEAST_OTHERS);
    }, 120_000);
  },
);
