import { expect, test } from 'bun:test';
import { readPace, writeRequest } from './workload.ts';

test('the pace of a stream travels in the prompt', () => {
  const pace = { chunks: 200, everyMs: 5 };
  expect(readPace(writeRequest(pace))).toEqual(pace);
  expect(JSON.parse(writeRequest(pace)).stream).toBe(true);
});

test('a whole reply has no pace', () => {
  expect(readPace(writeRequest())).toBeUndefined();
  expect(JSON.parse(writeRequest()).stream).toBeUndefined();
});
