/** The interface between table code and database engines: statements with values, and transactions. */

export type Value = string | number | bigint | null;

/** A statement with its values, which the text names `$1`, `$2` … */
export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
}

/** Integers are returned as bigint, whatever their size. */
export interface Database {
  /** Runs one statement in its own transaction. */
  all<Row>(statement: Statement): Promise<Row[]>;
  /** The same for a statement that may read many rows: on SQLite it runs in a thread, so that it does not delay calls. */
  scan<Row>(statement: Statement): Promise<Row[]>;
  /** Runs the steps in one transaction, which is rolled back if they throw. After a collision the steps may run again from the start. */
  steps<T>(steps: () => Steps<T>): Promise<T>;
  /** Runs the statements in order in one transaction and returns the rows of each. */
  together<Row>(statements: readonly Statement[]): Promise<Row[][]>;
}

/** A transaction whose statements depend on each other. Each `yield` runs a statement and returns its rows. */
export type Steps<T> = Generator<Statement, T, unknown[]>;

/** Builds a statement from a template. Inserted values become parameters; an inserted statement becomes part of the text. */
export function sql(parts: TemplateStringsArray, ...inserted: readonly (Value | Statement)[]): Statement {
  let text = parts[0] ?? '';
  const values: Value[] = [];
  for (const [index, one] of inserted.entries()) {
    if (typeof one === 'object' && one !== null) {
      text += numberedAfter(one.text, values.length);
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
  const texts: string[] = [];
  const values: Value[] = [];
  for (const one of statements) {
    texts.push(numberedAfter(one.text, values.length));
    for (const value of one.values) values.push(value);
  }
  return { text: texts.join(separator), values };
}

/** The text with its parameters numbered after so many others. */
const numberedAfter = (text: string, before: number): string =>
  before === 0 ? text : text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + before}`);

/** Text that is inserted unchanged. Must not contain input. */
export const raw = (text: string): Statement => ({ text, values: [] });

/** `IN (…)`. An empty list matches nothing. */
export function within(values: readonly Value[]): Statement {
  const list = values.map((value) => sql`${value}`);
  return sql`IN (${list.length > 0 ? joined(list, ', ') : raw('NULL')})`;
}

/** `WHERE …`, or nothing if there is no condition. */
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

/** Inserts a row, or replaces the one with the same value in `unique`. */
export function putInto(
  table: string,
  unique: string,
  columns: { readonly [column: string]: Value | undefined },
): Statement {
  const names = Object.keys(columns).filter((name) => name !== unique);
  const set = raw(names.map((name) => `${name} = excluded.${name}`).join(', '));
  return sql`${insertInto(table, columns)} ON CONFLICT (${raw(unique)}) DO UPDATE SET ${set}`;
}

/** Updates the given columns and returns the row. Without columns it only reads the row. */
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
