/** How SQLite finds the rows of each account by an index. */
import { raw, type Statement, sql } from '../database.ts';

export const rowsOfEach = (table: string, condition: Statement): Statement =>
  sql`named CROSS JOIN ${raw(table)} ON ${condition}`;
