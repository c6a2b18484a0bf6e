import { expect, test } from 'bun:test';
import { writeCsv } from './csv.ts';

test('a file keeps names and amounts, and has no formulas', () => {
  const rows = [
    ['name', 'amount'],
    ['a "b", c\nd', '-1.50'],
    ['=HYPERLINK("x")', 3],
    ['-1+1', undefined],
  ];
  expect(writeCsv(rows)).toBe('name,amount\r\n"a ""b"", c\nd",-1.50\r\n"\'=HYPERLINK(""x"")",3\r\n\'-1+1,\r\n');
});
