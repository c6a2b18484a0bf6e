/** Official libraries of every version read translated recordings; returns what their users see wrongly. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClientChild, startChild } from './child.ts';

export interface WrittenBody {
  status: number;
  contentType: string;
  body: string;
}

/** A body and the expected result: an error, the reply's content, or what the provider's own bytes would give. */
export interface Reading {
  format: string;
  stream: boolean;
  body: WrittenBody;
  error?: true;
  expected?: { text: string; refusal?: string; calls?: [string, unknown][] };
  /** The tools that it calls: AI SDK 4 must know them. */
  tools?: string[];
  native?: WrittenBody;
}

interface Slice {
  library: string;
  format: string;
  places: number[];
}

/** With the index of its reading. */
type Fault = [place: number, fault: string];
type RecordingsChild = ClientChild<Slice, { faults: Fault[] }>;

const CHILDREN = 2;
const SLICE = 100;
/** Takes a second on a quiet machine; the first reading loads the library. */
const SLICE_MS = 300_000;

/** Lets each library read its bodies; returns the faults of each with the library's name. `readings`: the indexes of its bodies. */
export async function readAll(
  readings: readonly Reading[],
  libraries: readonly { library: string; format: string; places: readonly number[] }[],
): Promise<{ library: string; place: number; fault: string }[]> {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-recordings-'));
  const file = join(folder, 'readings.jsonl');
  const read = new Set(libraries.flatMap(({ places }) => places));
  const lines = readings.map((reading, place) => `${read.has(place) ? JSON.stringify(reading) : 'null'}\n`);
  writeFileSync(file, lines.join(''));
  const found: { library: string; place: number; fault: string }[] = [];
  // Both children take whole libraries, so that each loads half of them.
  const left = Map.groupBy(libraries, ({ library }) => library).values();
  const work = async (child: RecordingsChild) => {
    for (const formats of left)
      for (const { library, format, places } of formats)
        for (let at = 0; at < places.length; at += SLICE) {
          const { faults } = await child.run({ library, format, places: places.slice(at, at + SLICE) }, SLICE_MS);
          for (const [place, fault] of faults) found.push({ library, place, fault });
        }
  };
  const start = (): Promise<RecordingsChild> => startChild('recordings-child.mjs', file);
  const children = await Promise.all(Array.from({ length: CHILDREN }, start));
  try {
    await Promise.all(children.map(work));
  } finally {
    for (const child of children) child.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return found;
}
