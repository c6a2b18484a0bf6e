/** What the tables ask of an engine: statements with values, run whole. */

export type Value = string | number | bigint | null;

/** A statement with its values; they stand in the text as `$1`, `$2` … */
export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
}

/** Integers come back as bigint, whatever their size. */
export interface Database {
  /** Runs a statement as a transaction of its own. */
  all<Row>(statement: Statement): Promise<Row[]>;
  /** Runs the steps in one transaction; where they throw, nothing has happened. They may be run again from their beginning. */
  steps<T>(steps: () => Steps<T>): Promise<T>;
  /** Runs the statements in order in one transaction, and returns the rows of each. */
  together<Row>(statements: readonly Statement[]): Promise<Row[][]>;
}

/** A transaction whose statements depend on each other: each is yielded, its rows are what the yield returns. */
export type Steps<T> = Generator<Statement, T, unknown[]>;

/** A statement from a template: what stands in `${}` becomes a value, or is put in whole where it is a statement itself. */
export function sql(parts: TemplateStringsArray, ...inserted: readonly (Value | Statement)[]): Statement {
  let text = parts[0] ?? '';
  const values: Value[] = [];
  for (const [index, one] of inserted.entries()) {
    if (typeof one === 'object' && one !== null) {
      const before = values.length;
      text += one.text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + before}`);
      values.push(...one.values);
    } else {
      values.push(one);
      text += `$${values.length}`;
    }
    text += parts[index + 1] ?? '';
  }
  return { text, values };
}

export function joined(statements: readonly Statement[], separator: string): Statement {
  const [first = raw(''), ...rest] = statements;
  return rest.reduce((all, one) => sql`${all}${raw(separator)}${one}`, first);
}

/** Text of our own, as it is. */
export const raw = (text: string): Statement => ({ text, values: [] });

/** `IN (…)`: of an empty list nothing is in it. */
export function within(values: readonly Value[]): Statement {
  const list = values.map((value) => sql`${value}`);
  return sql`IN (${list.length > 0 ? joined(list, ', ') : raw('NULL')})`;
}

/** `WHERE …`, or nothing where there is no condition. */
export function where(conditions: readonly (Statement | undefined)[]): Statement {
  const given = conditions.filter((one) => one !== undefined);
  return given.length > 0 ? sql`WHERE ${joined(given, ' AND ')}` : raw('');
}

export function insertInto(table: string, columns: { readonly [column: string]: Value | undefined }): Statement {
  const names = raw(Object.keys(columns).join(', '));
  const values = joined(
    Object.values(columns).map((value) => sql`${value ?? null}`),
    ', ',
  );
  return sql`INSERT INTO ${raw(table)} (${names}) VALUES (${values})`;
}

/** Inserts a row, or writes over the one with the same value in `unique`. */
export function putInto(
  table: string,
  unique: string,
  columns: { readonly [column: string]: Value | undefined },
): Statement {
  const names = Object.keys(columns).filter((name) => name !== unique);
  const set = raw(names.map((name) => `${name} = excluded.${name}`).join(', '));
  return sql`${insertInto(table, columns)} ON CONFLICT (${raw(unique)}) DO UPDATE SET ${set}`;
}

/** Sets the columns that are given and returns the row; with none it reads the row. */
export function updateRow(
  table: string,
  id: string,
  columns: { readonly [column: string]: Value | undefined },
): Statement {
  const given = Object.entries(columns).flatMap(([name, value]) =>
    value === undefined ? [] : [sql`${raw(name)} = ${value}`],
  );
  const set = given.length > 0 ? joined(given, ', ') : raw('id = id');
  return sql`UPDATE ${raw(table)} SET ${set} WHERE id = ${id} RETURNING *`;
}
