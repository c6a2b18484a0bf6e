/** The comment with the cost of a stream, which the gateway adds before its last event. */
import { expect } from 'bun:test';

const COST = /(?<=^|\n): \{"cost":"([^"]+)"\}\n\n/g;

/** The stream without that comment, which is there at most once and names what the call was charged. */
export function withoutCost(text: string, call: { cost: string }): string {
  const named = [...text.matchAll(COST)].map(([, cost]) => cost);
  expect(named.length).toBeLessThanOrEqual(1);
  for (const cost of named) expect(cost).toBe(call.cost);
  return text.replace(COST, '');
}
