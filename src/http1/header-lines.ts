/** The headers of a message. Values are searched in the text, because most are never read. */

/** Lines with a name and a value, without control characters: parsers disagree about which of them end a line. */
const LINES = /^(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;

const lines = new Map<string, string>();
// Names come from the code, so there are few. The limit is for callers that generate names.
const MOST_LINES = 1000;

/** The text before the value of this header, cached because building it costs as much as the search. */
function lineOf(name: string): string {
  let line = lines.get(name);
  if (line === undefined) {
    line = `\r\n${name}:`;
    if (lines.size < MOST_LINES) lines.set(name, line);
  }
  return line;
}

/** Whether a header with a list of words contains this one, in any letter case. */
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

  /** `text`: the lines, each after a line end. `undefined` if a line is not a header. */
  static read(text: string): HeaderLines | undefined {
    return LINES.test(text) ? new HeaderLines(text) : undefined;
  }

  private constructor(text: string) {
    this.text = text;
    this.lower = text.toLowerCase();
  }

  /** Whether there is a header whose name begins so, in lower case. */
  hasStart(start: string): boolean {
    return this.lower.includes(`\r\n${start}`);
  }

  /** The value of the header with this lower-case name; several are joined to a list. `null` if there is none. */
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

  /** All headers as an object. */
  toHeaders(): Headers {
    const headers = new Headers();
    for (const line of this.text.split('\r\n').slice(1)) {
      const colon = line.indexOf(':');
      headers.append(line.slice(0, colon), valueIn(line, colon + 1, line.length));
    }
    return headers;
  }
}

/** Trims HTTP white space, which is less than `trim` removes. */
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
