/** Mutations of replies as a faulty provider might send them: one random change in a body. */
import type { JsonObject } from '../../src/canonical/json.ts';

const NUMBERS = [-1, 0.5, 50_000_000, 2 ** 53, 1e308, -0, 4095, 4096, 1e21];
const VALUES: readonly unknown[] = [null, true, '', 'x', [], {}, [[]], [null], { index: 50_000_000 }, '\u0000\ud800'];

/** Changes one value in JSON: another number, another type, a repeated, removed or swapped element, a renamed member. */
function mutate(value: unknown, random: () => number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  if (typeof value === 'number' && random() < 0.8) return pick(NUMBERS);
  if (Array.isArray(value) && value.length > 0 && random() < 0.8) {
    const at = Math.floor(random() * value.length);
    const choice = random();
    if (choice < 0.6) return value.with(at, mutate(value[at], random));
    if (choice < 0.75) return [...value, ...Array.from({ length: 1 + Math.floor(random() * 50) }, () => value[at])];
    if (choice < 0.9) return value.toSpliced(at, 1);
    return value.toReversed();
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && random() < 0.9) {
    const names = Object.keys(value);
    if (names.length > 0) {
      const name = pick(names);
      const members: JsonObject = { ...(value as JsonObject) };
      const choice = random();
      if (choice < 0.85) return { ...members, [name]: mutate(members[name], random) };
      delete members[name];
      if (choice < 0.9)
        return { ...members, [pick(['index', 'type', 'delta', 'content', 'parts'])]: (value as JsonObject)[name] };
      return members;
    }
  }
  return pick(VALUES);
}

/** Mutates one JSON value in the lines of a stream or in a body, or the order and number of the lines. */
export function mutateBody(body: string, random: () => number): string {
  const lines = body.split('\n');
  const json = lines.flatMap((line, at) => (/^(data: ?)?[[{]/.test(line) && line.trim().length > 2 ? [at] : []));
  const at = json[Math.floor(random() * json.length)];
  if (at === undefined || json.length === 1 || !body.includes('data:')) return mutateJson(body, random);
  const choice = random();
  if (choice < 0.1) return lines.toSpliced(at, 1).join('\n');
  if (choice < 0.2) return lines.toSpliced(at, 0, ...Array.from({ length: 20 }, () => `${lines[at]}\n`)).join('\n');
  if (choice < 0.25) return lines.toReversed().join('\n');
  const line = lines[at]!;
  const start = line.startsWith('data:') ? 'data: ' : '';
  return lines.with(at, start + mutateJson(line.slice(start ? line.indexOf(':') + 1 : 0), random)).join('\n');
}

function mutateJson(text: string, random: () => number): string {
  try {
    return JSON.stringify(mutate(JSON.parse(text), random));
  } catch {
    return text.slice(0, Math.floor(random() * text.length));
  }
}
