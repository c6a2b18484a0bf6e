/** The headers of a message, looked up in its text: most are never asked for. */

/** Lines of a name and a value, and nothing that could be taken for a line's end. */
const LINES = /^(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\0\r\n]*)*$/;

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
    const line = `\r\n${name}:`;
    let value: string | null = null;
    for (let at = this.lower.indexOf(line); at >= 0; at = this.lower.indexOf(line, at + line.length)) {
      const end = this.lower.indexOf('\r\n', at + line.length);
      const here = this.text.slice(at + line.length, end < 0 ? undefined : end).trim();
      value = value === null ? here : `${value}, ${here}`;
    }
    return value;
  }

  has(name: string): boolean {
    return this.lower.includes(`\r\n${name}:`);
  }

  /** All of them, for whoever wants them as an object. */
  toHeaders(): Headers {
    const headers = new Headers();
    for (const line of this.text.split('\r\n').slice(1)) {
      const colon = line.indexOf(':');
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    return headers;
  }
}
