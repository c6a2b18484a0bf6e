/** Tables as files. A spreadsheet takes text that begins so for a formula, and names are given by others. */
const FORMULA = /^[=+\-@\t\r]/;
const AMOUNT = /^-?\d+(\.\d+)?$/;

function cellOf(value: string | number | undefined): string {
  const text = value === undefined ? '' : String(value);
  const safe = FORMULA.test(text) && !AMOUNT.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function writeCsv(rows: readonly (readonly (string | number | undefined)[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

/** Hands a file to the browser. */
export function download(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

export const downloadCsv = (name: string, rows: Parameters<typeof writeCsv>[0]): void =>
  download(name, new Blob([writeCsv(rows)], { type: 'text/csv' }));
