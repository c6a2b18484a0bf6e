/** The headers of a message, looked up in its text: most are never asked for. */

/** Lines of a name and a value, and no control characters: what one reader takes for an end or a blank another might not. */
const LINES = /^(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;

const lines = new Map<string, string>();
// Names are written in the code, so these stay few; the bound only guards against a caller that makes them up.
const MOST_LINES = 1000;

/** What stands before the value of this header: put together anew it would cost as much as the search for it. */
function lineOf(name: string): string {
  let line = lines.get(name);
  if (line === undefined) {
    line = `\r\n${name}:`;
    if (lines.size < MOST_LINES) lines.set(name, line);
  }
  return line;
}

/** A header that is a list of words: whether it has this one, in any case. */
export function listHas(list: string | null, word: string): boolean {
  if (list === null) return false;
  return list
    .toLowerCase()
    .split(',')
    .some((one) => one.trim() === word);
}

export class HeaderLines {
  private readonly text: string;
  private readonly lower: string;

  /** `text`: the lines, each after a line end; `undefined` where one of them is no header. */
  static read(text: string): HeaderLines | undefined {
    return LINES.test(text) ? new HeaderLines(text) : undefined;
  }

  private constructor(text: string) {
    this.text = text;
    this.lower = text.toLowerCase();
  }

  /** The value of the header of this lower-case name, several joined as one list; `null` where there is none. */
  get(name: string): string | null {
    const line = lineOf(name);
    let value: string | null = null;
    for (let at = this.lower.indexOf(line); at >= 0; at = this.lower.indexOf(line, at + line.length)) {
      const end = this.lower.indexOf('\r\n', at + line.length);
      const here = valueIn(this.text, at + line.length, end < 0 ? this.text.length : end);
      value = value === null ? here : `${value}, ${here}`;
    }
    return value;
  }

  has(name: string): boolean {
    return this.lower.includes(lineOf(name));
  }

  /** All of them, for whoever wants them as an object. */
  toHeaders(): Headers {
    const headers = new Headers();
    for (const line of this.text.split('\r\n').slice(1)) {
      const colon = line.indexOf(':');
      headers.append(line.slice(0, colon), valueIn(line, colon + 1, line.length));
    }
    return headers;
  }
}

/** Without the blanks around it: those of HTTP, which are fewer than those of `trim`. */
function valueIn(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(character: number): boolean {
  return character === 32 || character === 9;
}
