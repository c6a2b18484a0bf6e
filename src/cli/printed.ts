/** Output of commands: aligned columns for people, JSON for programs. */
import { type Money, writeMoney } from '../canonical/money.ts';
import type { CliDeps } from './cli-deps.ts';
import type { Given } from './command.ts';

/** A cell. An absent one is empty in a table and left out of JSON. */
type Cell = string | number | boolean | Money | readonly string[] | undefined;
export type PrintedRow = { readonly [column: string]: Cell };

/** Prints a list, or `empty` if it has no rows. */
export function printRows(open: CliDeps, given: Given, rows: readonly PrintedRow[], empty: string): void {
  if (given.json) open.terminal.out(JSON.stringify(rows, plain));
  else if (rows.length === 0) open.terminal.out(empty);
  else for (const line of alignedLines(rows)) open.terminal.out(line);
}

/** Prints one object, one line per member. */
export function printRow(open: CliDeps, given: Given, row: PrintedRow): void {
  if (given.json) {
    open.terminal.out(jsonOf(row));
    return;
  }
  const width = Math.max(...Object.keys(row).map((name) => name.length));
  for (const [name, cell] of Object.entries(row)) {
    if (cell !== undefined) open.terminal.out(`${name.padEnd(width)}  ${cellText(cell)}`);
  }
}

/** The rows below their column names. Numbers and money are right-aligned. */
export function alignedLines(rows: readonly PrintedRow[]): string[] {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [
    columns.map((name) => name.toUpperCase()),
    ...rows.map((row) => columns.map((name) => cellText(row[name]))),
  ];
  const widths = columns.map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)));
  const right = columns.map((name) =>
    rows.every((row) => ['number', 'bigint', 'undefined'].includes(typeof row[name])),
  );
  return lines.map((cells) =>
    cells
      .map((cell, at) => (right[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

function cellText(cell: Cell): string {
  if (cell === undefined) return '';
  if (typeof cell === 'bigint') return writeMoney(cell);
  return visible(Array.isArray(cell) ? cell.join(',') : String(cell));
}

/** Clients choose names of models and tags: what would control the terminal, or the direction of its text, is shown as `\u001b`. */
export const visible = (text: string): string => text.replace(CONTROLS, escaped);

const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const escaped = (control: string) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** One line of JSON. */
export const jsonOf = (row: PrintedRow): string => JSON.stringify(row, plain);

function plain(_member: string, value: unknown): unknown {
  return typeof value === 'bigint' ? writeMoney(value) : value;
}

export const timeText = (at: number): string => new Date(at).toISOString();
