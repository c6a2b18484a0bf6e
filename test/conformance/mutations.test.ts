/** Answers of providers are untrusted: every recording is mutated, sent through every client's format, under a memory limit. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { hasFixtures } from '../helpers/fixtures.ts';

const SEED = Number(process.env.MODELPORT_SEED ?? 20_261_122);
/** Per recording, and more for the fewer replies other than chat; the nightly run uses more. */
const MUTATIONS = Number(process.env.MODELPORT_MUTATIONS ?? 2);
const OTHERS = 3 * MUTATIONS;
const CEILING_MEGABYTES = 512;
/** Far fewer would mean that the replies were not read. */
const LEAST_CASES = hasFixtures ? 5000 : 300;
const LEAST_OTHERS = hasFixtures ? 1500 : 500;

interface Outcome {
  cases: number;
  errors: number;
  peakMegabytes: number;
  faults: string[];
}

/** In a separate process whose memory is watched. */
async function run(script: string, mutations: number): Promise<Outcome> {
  const command = [process.execPath, join(import.meta.dir, script), String(SEED), String(mutations)];
  const child = Bun.spawn(command, { stdout: 'pipe' });
  return JSON.parse(await child.stdout.text());
}

function expectBounded({ cases, errors, peakMegabytes, faults }: Outcome, least: number): void {
  expect(faults).toEqual([]);
  expect(cases).toBeGreaterThan(least);
  // Some mutations must break replies, which must be reported.
  expect(errors).toBeGreaterThan(0);
  expect(peakMegabytes).toBeLessThan(CEILING_MEGABYTES);
}

describe('mutated replies cause neither unbounded work nor internal errors', () => {
  test('recorded conversations, in every format', async () => {
    expectBounded(await run('mutate-replies.ts', MUTATIONS), LEAST_CASES);
  }, 120_000);

  test('images, speech, transcripts, embeddings, rankings, moderations and videos, through a complete call', async () => {
    expectBounded(await run('mutate-other-replies.ts', OTHERS), LEAST_OTHERS);
  }, 120_000);
});
