/** The golden grid: nothing is lost between any two formats, the official libraries read it all, and no translation changes unseen. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { hasFixtures } from '../fixtures.ts';
import { acceptedDigests, changesIn, digestsOf } from './digests.ts';
import { type Grid, runGrid } from './grid.ts';

const TIMEOUT_MS = 300_000;
let grid: Grid;

beforeAll(async () => {
  if (hasFixtures) grid = await runGrid();
}, TIMEOUT_MS);

describe.skipIf(!hasFixtures)('the golden grid', () => {
  test('replies mean what they meant, in every format, whole and streamed, to its official library too', () => {
    const wrong = grid.replies.filter(({ faults }) => faults.length > 0);
    expect(
      wrong.map(({ source, target, stream, faults }) => {
        return `${source.recorded.file} as ${target.name}, ${stream ? 'streamed' : 'whole'}: ${faults.join('; ')}`;
      }),
    ).toEqual([]);
    expect(grid.replies.length).toBeGreaterThan(8000);
  });

  test('requests ask what they asked, of a provider of every other format', () => {
    const wrong = grid.requests.filter(({ faults }) => faults.length > 0);
    expect(
      wrong.map(({ source, target, faults }) => `${source.recorded.file} as ${target.name}: ${faults.join('; ')}`),
    ).toEqual([]);
    expect(grid.requests.length).toBeGreaterThan(2000);
  });

  test('no translation has changed unseen', () => {
    const changes = changesIn(digestsOf(grid), acceptedDigests());
    if (changes.length === 0) return;
    const look =
      'Look at one with `npm run conformance -- --show FILE --as FORMAT`; accept all with `npm run conformance -- --accept`.';
    throw new Error(`${changes.length} translations have changed. ${look}\n${changes.slice(0, 40).join('\n')}`);
  });
});
