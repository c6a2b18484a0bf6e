import { expect, test } from 'bun:test';
import { withNotes } from './count-functions.ts';

const SOURCE = `
export function outer(a: number): number {
  return [a].map((one) => one + 1).map((one) => ({ one })).length;
}
class Child extends Object {
  constructor() { super(); }
  get size(): number { return 1; }
}
export const made = () => new Child().size;
export const skipped = () => 1;
declare function nothing(): void;
`;

test('each function is counted when it is called, and works as before', () => {
  const lines: number[] = [];
  const noted = withNotes('a.ts', SOURCE, (line) => lines.push(line) - 1);
  expect(lines).toHaveLength(7);
  const called: number[] = [];
  const code = new Bun.Transpiler({ loader: 'ts' }).transformSync(noted).replace(/^export /gm, '');
  const run = new Function('__noteCall', `${code.replace(/export \{[^}]*\};?/, '')}\nreturn [outer(1), made()];`);
  expect(run((number: number) => called.push(number))).toEqual([1, 1]);
  expect(new Set(called).size).toBe(6);
});
