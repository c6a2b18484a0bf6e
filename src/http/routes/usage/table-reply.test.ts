import { expect, test } from 'bun:test';
import { csvLine } from './table-reply.ts';

test('no value of CSV is a formula of a spreadsheet, and negative amounts stay numbers', () => {
  const hostile = ['=1+1', '+1', '@SUM(A1)', '-cmd', "-1+cmd|' /C calc'!A0", '-1-1', '\t=1', '\r=1', '\n=1'];
  for (const text of hostile) expect(csvLine([text]).replace(/^"/, '')).toStartWith("'");
  expect(csvLine(['-0.000000001', '-7', -7, 'a-b', 'say "x", y'])).toBe('-0.000000001,-7,-7,a-b,"say ""x"", y"\r\n');
});
