/** Every recording in every other format, read by all supported versions of that format's libraries. */
import { describe, expect, test } from 'bun:test';
import { type Reading, readAll } from '../../clients/recordings-client.ts';
import { VERSIONS } from '../../clients/versions-client.ts';
import { shapeOfBody } from '../../conformance/body-shape.ts';
import { contentIn, FORMAT_TRAITS } from '../../conformance/meaning.ts';
import {
  isFailure,
  type Source,
  sources,
  TARGETS,
  type Translation,
  translationsInto,
} from '../../conformance/translate-replies.ts';
import { hasFixtures, replyBytes, replyContentType } from '../../helpers/fixtures.ts';

const SUITE_MS = 1_200_000;
/** If the provider reported nothing, the client gets the billed usage. */
const BILL = { input: 3, output: 4, source: 'counted' } as const;

function readingOf({ source, target, stream, status, contentType, body }: Translation): Reading {
  const reading = { format: target.name, stream, body: { status, contentType, body } };
  if (source.error || isFailure(source, target)) return { ...reading, error: true };
  const traits = FORMAT_TRAITS[target.name];
  if (!traits) throw new Error(`The table FORMAT_TRAITS has no row for ${target.name}.`);
  const { text = '', refusal = '', calls = [], finish } = contentIn(source.reply, traits).choices[0] ?? {};
  const names = [...calls.map(({ name }) => name), ...callsOf(source).map(({ name }) => name)];
  const hasCalls = names.length > 0 && target.name !== 'openai-completions';
  const tools = hasCalls ? { tools: [...new Set(names)] } : {};
  if (source.dialect.name === target.name) {
    const { recorded } = source;
    const own = Buffer.from(replyBytes(recorded)).toString();
    const native = { status: recorded.status, contentType: replyContentType(recorded), body: own };
    return { ...reading, ...tools, native };
  }
  // Each library reads truncated arguments differently, and text completions have no tool calls.
  const areRead = finish !== 'length' && target.name !== 'openai-completions';
  const pairs = calls.map(({ name, input }): [string, unknown] => [name, input]);
  return { ...reading, ...tools, expected: { text, refusal, ...(areRead && { calls: pairs }) } };
}

const partsOf = ({ reply }: Source) => reply.choices[0]?.parts ?? [];
const hasPart = (source: Source, type: string) => partsOf(source).some(({ opens }) => opens.type === type);
const callsOf = (source: Source) =>
  partsOf(source).flatMap(({ opens }) =>
    opens.type === 'tool-call' ? [{ name: opens.name, custom: opens.custom }] : [],
  );
const hasCustomCall = (source: Source) => callsOf(source).some(({ custom }) => custom === true);

/** What a library cannot read from its own provider either, each with the reason. */
const BEYOND: readonly {
  library: RegExp;
  format: string;
  why: string;
  when(source: Source, stream: boolean): boolean;
}[] = [
  {
    library: /./,
    format: 'gemini',
    why: 'the error of an interrupted stream is in separate writes: endings.test.ts covers that',
    when: ({ error }, stream) => stream && error !== undefined,
  },
  {
    library: /./,
    format: '',
    why: 'some join all choices of a stream, and all others see only the first',
    when: ({ reply }, stream) => stream && reply.choices.length > 1,
  },
  {
    library: /^(ai|mistral)/,
    format: 'openai-chat',
    why: 'these know no calls of tools that take free text',
    when: hasCustomCall,
  },
  {
    library: /^openai [456]/,
    format: 'openai-chat',
    why: 'their helper for streams knows no calls of tools that take free text',
    when: (source, stream) => stream && hasCustomCall(source),
  },
  {
    library: /^ai 4/,
    format: '',
    why: 'AI SDK 4 raises on arguments that are truncated at a token limit',
    when: (source) => callsOf(source).length > 0 && source.reply.choices[0]?.finish?.reason === 'length',
  },
  {
    library: /^ai 4/,
    format: 'anthropic-messages',
    why: 'AI SDK 4 knows no citations in streams',
    when: (source, stream) => stream && partsOf(source).some(({ citations }) => citations !== undefined),
  },
  {
    library: /^ai [45]/,
    format: 'openai-responses',
    why: 'AI SDK 4 and 5 know no refusals',
    when: (source) => hasPart(source, 'refusal') || source.reply.choices[0]?.finish?.explanation !== undefined,
  },
  {
    library: /^ai/,
    format: 'openai-responses',
    why: 'the AI SDK takes an image for the result of a tool that the caller must have named',
    when: (source) => hasPart(source, 'image'),
  },
  {
    library: /^ai [4567]/,
    format: 'openai-responses',
    why: 'the AI SDK knows no calls of custom tools that were not named as such',
    when: hasCustomCall,
  },
  {
    library: /^openai [45]/,
    format: 'openai-responses',
    why: 'their helper for streams overlooks `response.failed`',
    when: ({ reply }, stream) => stream && reply.choices[0]?.finish?.reason === 'broken-call',
  },
];

const isBeyond = (library: string, { source, target, stream }: Translation) =>
  BEYOND.some(
    (row) => row.library.test(library) && (row.format === '' || row.format === target.name) && row.when(source, stream),
  );

/**
 * Streams take most of the time: those of a recording are read by one of a library's versions in turn, or by all with the setting below
 * (of the AI SDK by one even then: it takes 10 ms per stream). Mistral's library does not request usage in streams, and cannot read calls
 * in pieces. Everything else is read by every library.
 */
function isReadBy(library: string, reading: Reading, hasUsage: boolean, recording: number): boolean {
  const { format, stream, tools } = reading;
  if (!stream) return hasUsage;
  if (library.startsWith('mistral')) return !hasUsage && !tools;
  if (!hasUsage) return false;
  if (READS_ALL && !library.startsWith('ai ')) return true;
  const versions = LIBRARIES.filter((row) => row.format === format && familyOf(row.library) === familyOf(library));
  return versions[recording % versions.length]?.library === library;
}

const familyOf = (library: string) => library.split(' ')[0];

/** All readings take minutes of processor time. Without this setting each library reads one body of each shape. */
const READS_ALL = process.env.MODELPORT_TEST_THOROUGH === '1';
const AT_LEAST = READS_ALL ? 50_000 : 10_000;

const LIBRARIES = Object.entries(VERSIONS).flatMap(([format, names]) => names.map((library) => ({ library, format })));

describe.skipIf(!hasFixtures)('recordings', () => {
  test(
    'are read correctly in every format by every library',
    async () => {
      const all = sources();
      const chat = TARGETS.filter(({ name }) => name === 'openai-chat');
      const translations = all.flatMap((source) => translationsInto(TARGETS, source, { bill: BILL }));
      const usual = translations.length;
      translations.push(...all.flatMap((source) => translationsInto(chat, source, { call: { wantsUsage: false } })));
      const readings = translations.map(readingOf);
      const recordings = new Map(all.map((source, at) => [source, at]));
      const shapes = READS_ALL ? [] : translations.map((each) => `${each.status} ${shapeOfBody(each.body)}`);
      // Of each shape the shortest is read.
      const ordered = [...readings.entries()].sort(([, a], [, b]) => a.body.body.length - b.body.body.length);
      const places = (library: string, format: string) => {
        const read = new Set<string>();
        return ordered.flatMap(([place, reading]) => {
          if (reading.format !== format) return [];
          const translation = translations[place]!;
          const recording = recordings.get(translation.source) ?? 0;
          if (!isReadBy(library, reading, place < usual, recording) || isBeyond(library, translation)) return [];
          const shape = shapes[place] ?? String(place);
          if (read.has(shape)) return [];
          read.add(shape);
          return place;
        });
      };
      const rows = LIBRARIES.map((row) => ({ ...row, places: places(row.library, row.format) }));
      expect(rows.reduce((sum, row) => sum + row.places.length, 0)).toBeGreaterThan(AT_LEAST);
      if (!READS_ALL)
        console.log(
          'Recorded replies whose shape a client library has read already are skipped: MODELPORT_TEST_THOROUGH=1 reads all.',
        );
      const faults = await readAll(readings, rows);
      expect(
        faults.map(({ library, place, fault }) => {
          const { source, target, stream } = translations[place]!;
          return `${library}: ${source.recorded.file} as ${target.name}, ${stream ? 'streamed' : 'whole'}: ${fault}`;
        }),
      ).toEqual([]);
    },
    SUITE_MS,
  );
});
