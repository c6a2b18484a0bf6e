import { expect, test } from 'bun:test';
import { RequestTurns } from './request-turns.ts';

/** Waits for the next turn of the event loop. */
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('requests that arrive together begin in several turns, in the order of arrival', async () => {
  const turns = new RequestTurns();
  const begun: number[] = [];
  const arrive = (name: number) => turns.add({ begin: () => begun.push(name) });
  for (let name = 0; name < 70; name++) arrive(name);
  const counts = [begun.length];
  await nextTurn();
  // What arrives later waits behind them.
  arrive(70);
  counts.push(begun.length);
  while (begun.length < 71) {
    await nextTurn();
    counts.push(begun.length);
  }
  expect(counts).toEqual([32, 64, 71]);
  expect(begun).toEqual(Array.from({ length: 71 }, (_, name) => name));
});

test('a few requests in a turn begin at once, in every turn', async () => {
  const turns = new RequestTurns();
  let begun = 0;
  for (let turn = 1; turn <= 3; turn++) {
    for (let request = 0; request < 32; request++) turns.add({ begin: () => begun++ });
    expect(begun).toBe(32 * turn);
    await nextTurn();
  }
});
