import { expect, test } from 'bun:test';
import { lastFour } from '../canonical/redaction.ts';

test('a secret shows its last four characters, and a short one nothing', () => {
  expect(lastFour('sk-0123456789')).toBe('…6789');
  expect(lastFour('short')).toBe('…');
});
