import { expect, test } from 'bun:test';
import { orderOf } from './conformance.ts';

test.each([
  [[], { kind: 'print' }],
  [['--write'], { kind: 'write' }],
  [['--accept'], { kind: 'accept' }],
  [['--show', 'alibaba-text'], { kind: 'show', file: 'alibaba-text' }],
  [['--show', 'alibaba-text', '--as', 'gemini'], { kind: 'show', file: 'alibaba-text', as: 'gemini' }],
])('%p', (args, order) => {
  expect(orderOf(args)).toEqual(order as ReturnType<typeof orderOf>);
});

test.each([[['--show']], [['--accept', 'all']], [['--show', 'a', '--as']], [['gemini']]])(
  '%p is not a valid argument',
  (args) => {
    expect(orderOf(args)).toBeUndefined();
  },
);
