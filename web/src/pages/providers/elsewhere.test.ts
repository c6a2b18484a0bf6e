import { expect, test } from 'bun:test';
import { isElsewhere } from './elsewhere.ts';

test('another path is the same server; another host, port or scheme, or none, is not', () => {
  const stored = 'https://proxy.test/v1';
  for (const typed of [stored, 'https://proxy.test/v2', 'https://PROXY.test:443']) {
    expect([typed, isElsewhere(typed, stored)]).toEqual([typed, false]);
  }
  for (const typed of ['http://proxy.test/v1', 'https://proxy.test:444', 'https://other.test', 'https://', '']) {
    expect([typed, isElsewhere(typed, stored)]).toEqual([typed, true]);
  }
  expect(isElsewhere('https://other.test', undefined)).toBe(false);
});
