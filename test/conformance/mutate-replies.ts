/**
 * Recorded replies, mutated as a lying or broken provider would send them, through every client's format. Run by `mutations.test.ts` as a process of its
 * own, so that its memory can be watched: `bun test/conformance/mutate-replies.ts SEED MUTATIONS_PER_RECORDING`. Prints one line of JSON.
 */
import { GatewayError } from '../../src/canonical/errors.ts';
import type { JsonObject } from '../../src/canonical/json.ts';
import { bedrockConverse } from '../../src/dialects/bedrock-converse/bedrock-converse.ts';
import { boundedReader } from '../../src/dialects/bounded-reader.ts';
import { chatCall } from '../chat-call.ts';
import { recordedCases, replyBytes, replyContentType } from '../fixtures.ts';
import { CONVERSING, TARGETS, WIRES } from './translate-replies.ts';

/** Of the longest reply that a mutation of a recording may make of it: an output that grows without bound is caught long before. */
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;
const MOST_MS = 2000;

const NUMBERS = [-1, 0.5, 50_000_000, 2 ** 53, 1e308, -0, 4095, 4096, 1e21];
const VALUES: readonly unknown[] = [null, true, '', 'x', [], {}, [[]], [null], { index: 50_000_000 }, '\u0000\ud800'];

/** A small generator of numbers in [0, 1) that gives the same row for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One change somewhere in a JSON value: another number, another type, a repeated, removed or swapped element, a member under another name. */
export function mutate(value: unknown, random: () => number): unknown {
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

/** Mutates one JSON value among the lines of a stream, or the one body; or the order and number of the lines. */
function mutateBody(body: string, random: () => number): string {
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

if (import.meta.main) {
  const [seed = 1, mutations = 1] = process.argv.slice(2).map(Number);
  const random = randomFrom(seed);
  const faults: string[] = [];
  let cases = 0;
  let errors = 0;
  let peak = 0;
  for (const dialect of [...CONVERSING, bedrockConverse]) {
    for (const recorded of recordedCases(WIRES[dialect.name] ?? dialect.name)) {
      if (recorded.status !== 200) continue;
      const body = Buffer.from(replyBytes(recorded)).toString();
      for (let round = 0; round < mutations; round++) {
        const mutated = Buffer.from(mutateBody(body, random));
        for (const target of TARGETS) {
          cases++;
          const call = chatCall({ stream: recorded.stream });
          const started = performance.now();
          try {
            const reader = boundedReader(dialect.reader(call, replyContentType(recorded), {}), call);
            const writer = target.writer(call);
            let length = 0;
            for (const frame of [...reader.read(mutated), ...reader.end()]) {
              const failure = frame.events.find((event) => event.type === 'error');
              if (failure) {
                errors++;
                if (failure.error.code === 'internal_error') throw failure.error.cause;
                length += writer.fail(failure.error).length;
                break;
              }
              length += (target.name === dialect.name ? writer.pass(frame) : writer.write(frame)).length;
            }
            length += writer.end().length;
            if (length > MOST_OUTPUT_BYTES) faults.push(`${recorded.file} as ${target.name}: ${length} bytes`);
          } catch (thrown) {
            // A reply that its writer refuses is a refusal; anything else is our own fault.
            const stack =
              thrown instanceof Error ? (thrown.stack ?? thrown.message).split('\n').slice(0, 4).join(' | ') : thrown;
            if (!(thrown instanceof GatewayError))
              faults.push(`${recorded.file} as ${target.name}, round ${round}: ${stack}`);
          }
          const ms = performance.now() - started;
          if (ms > MOST_MS)
            faults.push(`${recorded.file} as ${target.name}, round ${round}: took ${Math.round(ms)} ms`);
        }
        peak = Math.max(peak, process.memoryUsage.rss());
      }
    }
  }
  console.log(
    JSON.stringify({
      seed,
      cases,
      errors,
      peakMegabytes: Math.round(peak / 2 ** 20),
      faults: faults.slice(0, 200),
      faulty: faults.length,
    }),
  );
}
