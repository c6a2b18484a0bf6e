import { expect, test } from 'bun:test';
import { joined, raw, sql, within } from './database.ts';

test('statements that are joined or inserted keep their values', () => {
  const one = sql`a = ${1} AND b = ${'x'}`;
  expect(sql`SELECT ${0} WHERE ${joined([one, raw('c'), sql`d ${within([7n, null])}`], ' OR ')} LIMIT ${9}`).toEqual({
    text: 'SELECT $1 WHERE a = $2 AND b = $3 OR c OR d IN ($4, $5) LIMIT $6',
    values: [0, 1, 'x', 7n, null, 9],
  });
  expect(joined([], ', ')).toEqual(raw(''));
});

// Text that is numbered anew with every statement takes minutes for as many.
test('tens of thousands of values are joined at once', () => {
  const many = 30_000;
  const { text, values } = joined(
    Array.from({ length: many }, (_, index) => sql`(${index}, ${1})`),
    ', ',
  );
  expect(values).toHaveLength(2 * many);
  expect(text).toEndWith(`, ($${2 * many - 1}, $${2 * many})`);
}, 60_000);
