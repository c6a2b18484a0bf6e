/** Replaces the usage in a reply by our own count if the provider's report was disputed. */
import { entryOf } from '../../canonical/entry-of.ts';
import { isObject, type Json, type JsonObject } from '../../canonical/json.ts';
import type { Usage } from '../../canonical/usage.ts';

/** Members in which formats report usage. */
const REPORTS: ReadonlySet<string> = new Set(['usage', 'usageMetadata', 'usage_metadata', 'billed_units', 'x_groq']);
/** Top-level members of a reply or an event that may contain such a report. */
const AROUND: ReadonlySet<string> = new Set(['response', 'message', 'meta']);

type Figure = (usage: Usage) => number;
const input: Figure = (usage) => usage.input;
const output: Figure = (usage) => usage.output;
const total: Figure = (usage) => usage.input + usage.output;

/** The names of the figures in all formats. A figure that is not listed is a detail that we have not counted: 0. */
const FIGURES: { readonly [name: string]: Figure } = {
  prompt_tokens: input,
  input_tokens: input,
  promptTokenCount: input,
  completion_tokens: output,
  output_tokens: output,
  candidatesTokenCount: output,
  total_tokens: total,
  totalTokenCount: total,
  seconds: (usage) => usage.seconds ?? 0,
  search_units: (usage) => usage.searches ?? 0,
};

/** The bytes of a non-streaming reply, or of events of a stream, with these figures wherever usage is reported. */
export function withOwnFigures(bytes: Uint8Array, usage: Usage): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const whole = rewritten(text, usage);
  if (whole !== undefined) return Buffer.from(whole);
  const lines = text.split('\n').map((line) => {
    const start = line.indexOf('{');
    const end = line.lastIndexOf('}') + 1;
    if (start < 0 || end <= start) return line;
    const changed = rewritten(line.slice(start, end), usage);
    return changed === undefined ? line : line.slice(0, start) + changed + line.slice(end);
  });
  return Buffer.from(lines.join('\n'));
}

/** `undefined`: it is not a JSON object. */
function rewritten(text: string, usage: Usage): string | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(body)) return undefined;
  return reportsIn(body, usage) ? JSON.stringify(body) : text;
}

/** Writes the figures into every report of the body; returns whether there is one. */
export function reportsIn(body: JsonObject, usage: Usage): boolean {
  let found = false;
  for (const [name, value] of Object.entries(body)) {
    if (!isObject(value)) continue;
    if (REPORTS.has(name)) {
      body[name] = figuresIn(value, usage);
      found = true;
    } else if (AROUND.has(name) && reportsIn(value, usage)) found = true;
  }
  return found;
}

function figuresIn(report: JsonObject, usage: Usage): JsonObject {
  const own: JsonObject = {};
  for (const [name, value] of Object.entries(report)) own[name] = figureFor(name, value, usage);
  return own;
}

function figureFor(name: string, value: Json, usage: Usage): Json {
  if (Array.isArray(value)) return [];
  if (isObject(value)) return figuresIn(value, REPORTS.has(name) ? usage : NO_DETAILS);
  if (typeof value !== 'number') return value;
  return entryOf(FIGURES, name)?.(usage) ?? 0;
}

/** Details are parts of a total, and we have counted none. */
const NO_DETAILS: Usage = { input: 0, output: 0, source: 'counted' };
