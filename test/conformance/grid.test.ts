/**
 * The golden grid: no translation between two formats loses anything, the official libraries read all of them, and none changes unnoticed.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { atLeast, hasFixtures } from '../helpers/fixtures.ts';
import { acceptedDigests, changesIn, digestsOf } from './digests.ts';
import { type Grid, runGrid, writeGrid } from './grid.ts';

const TIMEOUT_MS = 300_000;
let grid: Grid;

beforeAll(async () => {
  // The libraries are installed for the many recordings outside, not for our few: `npm test` installs nothing.
  grid = hasFixtures ? await runGrid() : writeGrid();
}, TIMEOUT_MS);

describe('the golden grid', () => {
  test('replies keep their meaning in every format, non-streaming and streaming, also for its official library', () => {
    const wrong = grid.replies.filter(({ faults }) => faults.length > 0);
    expect(
      wrong.map(({ source, target, stream, faults }) => {
        return `${source.recorded.file} as ${target.name}, ${stream ? 'streamed' : 'whole'}: ${faults.join('; ')}`;
      }),
    ).toEqual([]);
    expect(grid.replies.length).toBeGreaterThanOrEqual(atLeast(8000));
  });

  test('requests keep their meaning for a provider of every other format', () => {
    const wrong = grid.requests.filter(({ faults }) => faults.length > 0);
    expect(
      wrong.map(({ source, target, faults }) => `${source.recorded.file} as ${target.name}: ${faults.join('; ')}`),
    ).toEqual([]);
    expect(grid.requests.length).toBeGreaterThanOrEqual(atLeast(2000));
  });

  test('no translation has changed without being accepted', () => {
    const changes = changesIn(digestsOf(grid), acceptedDigests());
    if (changes.length === 0) return;
    const look =
      'Look at one with `npm run conformance -- --show FILE --as FORMAT`; accept all with `npm run conformance -- --accept`.';
    throw new Error(`${changes.length} translations have changed. ${look}\n${changes.slice(0, 40).join('\n')}`);
  });
});
