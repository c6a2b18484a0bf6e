import { expect, test } from 'bun:test';
import { readPace, writeRequest } from './workload.ts';

test('the rate of a stream is part of the prompt', () => {
  const pace = { chunks: 200, everyMs: 5 };
  expect(readPace(writeRequest(pace))).toEqual(pace);
  expect(JSON.parse(writeRequest(pace)).stream).toBe(true);
});

test('a non-streaming response has no rate', () => {
  expect(readPace(writeRequest())).toBeUndefined();
  expect(JSON.parse(writeRequest()).stream).toBeUndefined();
});
