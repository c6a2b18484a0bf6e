/** Finds the position at which invalid JSON is wrong. */

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** What may come next. */
type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end';

/** The index of the first wrong character, or the length of the text if it ends too early. */
export function jsonFault(text: string): number {
  const open: string[] = [];
  let wanted: Expected = 'value';
  let at = 0;
  const close = (bracket: string): boolean => {
    if (open.pop() !== bracket) return false;
    wanted = ', or end';
    at++;
    return true;
  };
  for (;;) {
    while (' \t\n\r'.includes(text[at] ?? '?')) at++;
    const next = text[at];
    if (next === undefined || (wanted === ', or end' && open.length === 0)) return at;
    if (wanted === ':') {
      if (next !== ':') return at;
      wanted = 'value';
      at++;
    } else if (wanted === ', or end') {
      const inside = open.at(-1);
      if (next === ',') {
        wanted = inside === '}' ? 'name' : 'value';
        at++;
      } else if (!close(next)) return at;
    } else if (next === '}' || next === ']') {
      if (wanted !== (next === '}' ? 'name or }' : 'value or ]') || !close(next)) return at;
    } else if (wanted === 'name' || wanted === 'name or }') {
      if (next !== '"') return at;
      const end = stringEnd(text, at);
      if (end < 0) return -end - 1;
      at = end;
      wanted = ':';
    } else if (next === '{' || next === '[') {
      open.push(next === '{' ? '}' : ']');
      wanted = next === '{' ? 'name or }' : 'value or ]';
      at++;
    } else {
      const end = next === '"' ? stringEnd(text, at) : plainEnd(text, at);
      if (end < 0) return -end - 1;
      at = end;
      wanted = ', or end';
    }
  }
}

/** The index after the closing quote, or the fault's position as a negative number. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; ) {
    const character = text[at];
    if (character === '"') return at + 1;
    if (character === '\\') {
      ESCAPE.lastIndex = at;
      if (!ESCAPE.test(text)) return -at - 1;
      at = ESCAPE.lastIndex;
    } else if (text.charCodeAt(at) < 0x20) return -at - 1;
    else at++;
  }
  return -text.length - 1;
}

function plainEnd(text: string, at: number): number {
  for (const pattern of [NUMBER, WORD]) {
    pattern.lastIndex = at;
    if (pattern.test(text)) return pattern.lastIndex;
  }
  return -at - 1;
}

/** `line 2, column 7`, counted from 1. */
export function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Tells the client the position but not the content. */
export function whyNoJson(body: Uint8Array): string {
  if (body.length === 0) return 'It is empty.';
  let text: string;
  try {
    text = decoder.decode(body);
  } catch {
    return 'It is not valid UTF-8.';
  }
  const at = jsonFault(text);
  const what = at < text.length ? 'It is invalid' : 'It ends too early,';
  return `${what} at ${placeOf(text, at)}.`;
}
