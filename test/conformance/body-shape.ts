/** The shape of a reply's body: its members and their types, without the text. Bodies of one shape take a library along one path. */

/** Members whose text decides which code of a library runs. */
const NAMES = new Set(['type', 'object', 'role', 'status', 'event', 'finish_reason', 'stop_reason', 'finishReason']);

/** Equal neighbours count once. */
function withoutRepeats(shapes: readonly string[]): string[] {
  return shapes.filter((shape, at) => shape !== shapes[at - 1]);
}

function shapeOfValue(value: unknown, member = ''): string {
  if (typeof value === 'string') return NAMES.has(member) ? value : value === '' ? 'empty' : 'text';
  if (typeof value === 'number') return 'number';
  if (Array.isArray(value)) return `[${withoutRepeats(value.map((each) => shapeOfValue(each))).join()}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{${Object.entries(value).map(([name, each]) => `${name}:${shapeOfValue(each, name)}`)}}`;
}

function shapeOfText(text: string): string {
  try {
    return shapeOfValue(JSON.parse(text));
  } catch {
    return text;
  }
}

/**
 * The shape of a JSON body, or of the events of a stream; events that repeat, alone or in pairs with their `event:` line, count once.
 *
 * @example
 * shapeOfBody('{"text":"Hello","size":3}') // '{text:text,size:number}'
 */
export function shapeOfBody(body: string): string {
  if (/^\s*[{[]/.test(body)) return shapeOfText(body);
  const shapes: string[] = [];
  for (const line of body.split('\n')) {
    if (line === '') continue;
    const shape = line.startsWith('data:') ? shapeOfText(line.slice('data:'.length).trim()) : line;
    if (shape !== shapes.at(-1) && shape !== shapes.at(-2)) shapes.push(shape);
  }
  return shapes.join('\n');
}
