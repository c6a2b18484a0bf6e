import { expect, test } from 'bun:test';
import { completionAsTurn, completionLosses } from './completion-turn.ts';

test('a prompt is the turn itself', () => {
  expect(completionAsTurn('Once upon', undefined)).toBe('Once upon');
  expect(completionAsTurn('Once upon', '')).toBe('Once upon');
});

test('a suffix becomes an instruction with both ends', () => {
  const turn = completionAsTurn('def f():', 'return x');
  expect(turn).toContain('<beginning>\ndef f():\n</beginning>');
  expect(turn).toContain('<end>\nreturn x\n</end>');
});

test('token ids are refused by name', () => {
  expect(() => completionAsTurn([1, 2], undefined)).toThrow(
    expect.objectContaining({ code: 'invalid_request', param: 'prompt' }),
  );
});

test('what a chat request cannot express is reported', () => {
  expect(completionLosses({ prompts: ['a'], echo: true, bestOf: 1 })).toEqual([]);
  expect(completionLosses({ prompts: ['a'], echo: false, bestOf: 2, logprobs: 0 })).toHaveLength(2);
});
