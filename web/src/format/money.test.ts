import { expect, test } from 'bun:test';
import { exactMoney, listMoney, multiplyMoney, readAmount, subtractMoney, sumMoney } from './amounts.ts';
import { changePercent, compareMoney, parseMoney, sharePercent, shortMoney } from './money.ts';

test('sums are exact where floating-point numbers are not', () => {
  expect(sumMoney(['0.1', '0.2'])).toBe('0.3');
  expect(sumMoney(['0.000000000001', '9007199254740993'])).toBe('9007199254740993.000000000001');
  expect(sumMoney(['0.0036840', '0.0024576', '0.0051200', '0.0048600', '0.0064000'])).toBe('0.0225216');
  expect(subtractMoney('0.153085', '0.0225216')).toBe('0.1305634');
  expect(subtractMoney('1', '1.5')).toBe('-0.5');
});

test('receipts show every digit, lists six, figures cents', () => {
  expect(exactMoney('0.0225216')).toBe('$0.0225216');
  expect(exactMoney('5')).toBe('$5.00');
  expect(exactMoney('-0.0000127')).toBe('−$0.0000127');
  expect(listMoney('0.0225216')).toBe('$0.022522');
  expect(shortMoney('1284.5077')).toBe('$1,284.51');
  expect(shortMoney('0.0000381')).toBe('$0.000038');
  expect(shortMoney('999999999.995')).toBe('$1,000,000,000.00');
});

test('zero is $0, unknown is a dash, and a rounded zero has no minus', () => {
  for (const write of [exactMoney, listMoney, shortMoney]) {
    expect(write('0')).toBe('$0');
    expect(write('-0.00')).toBe('$0');
    expect(write(undefined)).toBe('–');
  }
  expect(listMoney('-0.0000001')).toBe('$0.000000');
});

test('what is no amount is refused, not guessed', () => {
  for (const text of ['', '1e3', '.5', '1.', '1,000', 'NaN', '1.0000000000001'])
    expect(() => parseMoney(text)).toThrow();
  expect(readAmount(' $1,000.50 ')).toBe('1000.50');
  for (const typed of ['', '-1', '1e3', 'ten', '1.0000000001']) expect(readAmount(typed)).toBeUndefined();
});

test('a rate for one token times a million is the listed price', () => {
  expect(multiplyMoney('0.0000001', 1_000_000)).toBe('0.1');
  expect(multiplyMoney('0.00000000025', 1_000_000)).toBe('0.00025');
});

test('comparisons and shares', () => {
  expect(compareMoney('10', '9.999999999')).toBe(1);
  expect(compareMoney('1.0', '1')).toBe(0);
  expect(sharePercent('222.60', '240')).toBe(92.75);
  expect(sharePercent('1', '0')).toBe(0);
  expect(changePercent('108.2', '100')).toBe(8.2);
  expect(changePercent('1', '0')).toBeUndefined();
});
