import { expect, test } from 'bun:test';
import { withTable } from './reference-docs.ts';

test('a table replaces the text between its marks, and the rest of the page stays', () => {
  const page = 'before\n<!-- table: x -->\nold\n<!-- end -->\nafter\n';
  const written = withTable(page, 'x', '| a |');
  expect(written).toBe('before\n<!-- table: x -->\n\n| a |\n\n<!-- end -->\nafter\n');
  expect(withTable(written ?? '', 'x', '| a |')).toBe(written);
});

test('a page without the marks is reported', () => {
  expect(withTable('nothing', 'x', '')).toBeUndefined();
  expect(withTable('<!-- table: x -->', 'x', '')).toBeUndefined();
});

test('the page of the command line has one row for each command', async () => {
  const page = await Bun.file(`${import.meta.dir}/../docs/reference/cli.md`).text();
  const usages = [...page.matchAll(/^\| `modelport ([^`]*)`/gm)].map(([, usage = '']) => usage);
  expect(usages.length).toBeGreaterThan(50);
  expect(new Set(usages).size).toBe(usages.length);
  expect(usages.filter((usage) => usage.startsWith('health'))).toHaveLength(4);
});
