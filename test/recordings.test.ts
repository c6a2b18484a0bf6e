/** Our own recordings: they cover every format that the application reads, and each is read to its end however it is cut. */
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Call, Kind } from '../src/canonical/call.ts';
import { GatewayError } from '../src/canonical/errors.ts';
import { uploadOf } from '../src/canonical/upload.ts';
import type { ProviderDialect } from '../src/dialects/dialect.ts';
import { PROVIDER_DIALECTS } from '../src/dialects/index.ts';
import { openaiVideo } from '../src/providers/video/openai-video.ts';
import { chatCall } from './helpers/chat-call.ts';
import {
  cutBytes,
  type OwnRecording,
  outsideOnly,
  ownRecordings,
  recordedCase,
  replyBytes,
  replyContentType,
} from './helpers/fixtures.ts';

const FOLDER = join(import.meta.dir, 'recordings');
const MOST_BYTES = 300_000;

/** Formats by the manifest's names for them, where it has another one. */
const WIRES: { readonly [dialect: string]: readonly string[] } = {
  gemini: ['gemini-generatecontent'],
  // Its clients' texts are sent in batches.
  'gemini-embed': ['gemini-batch-embed'],
  'openai-images': ['openai-images', 'openai-images-edits'],
  imagen: ['imagen-predict'],
  rerank: ['cohere-rerank'],
};
/** Formats whose replies come as events too. */
const STREAMING: readonly string[] = [
  'openai-chat',
  'openai-completions',
  'openai-responses',
  'anthropic-messages',
  'gemini',
  'bedrock-converse',
  'openai-images',
  'openai-speech',
  'openai-transcriptions',
  'gemini-speech',
];
/** What a conversation may hold, in any of the formats. */
const FEATURES = [
  ...['text', 'tools', 'reasoning', 'reasoning-signature', 'images', 'images-in-request', 'tool-results-in-request'],
  ...['structured-output', 'web-search', 'citations', 'cache-usage', 'logprobs', 'length', 'refusal', 'error'],
];

const wiresOf = (name: string) => WIRES[name] ?? [name];
const recordingsOf = (name: string) => ownRecordings.filter(({ wire }) => wiresOf(name).includes(wire));

const MEMBERS = { model: 'm', extras: {}, headers: {}, origin: { dialect: 'a-dialect', body: new Uint8Array() } };
const TEXTS = ['one', 'two', 'three', 'four'];
const UPLOAD = uploadOf(new Uint8Array(48_000));

/** A call that such a reply answers. */
function callOf(kind: Kind, { stream, file }: OwnRecording): Call {
  const members = { ...MEMBERS, stream };
  switch (kind) {
    case 'embed':
      return { ...members, kind, inputs: TEXTS.slice(0, widthOf(file)), encoding: 'float' };
    case 'rerank':
      return { ...members, kind, query: 'q', documents: TEXTS, returnDocuments: false };
    case 'image':
      return { ...members, kind, prompt: 'A cat', images: [], edit: false, n: 1, size: {} };
    case 'speech':
      return { ...members, kind, input: 'Hello', asEvents: stream };
    case 'transcription': {
      const format = /-(verbose|srt)\./.exec(file)?.[1]?.replace('verbose', 'verbose_json');
      const heard = { file: { name: 'a.wav', upload: UPLOAD }, length: { seconds: 1, mostSeconds: 1 } };
      return { ...members, kind, ...heard, translate: false, fields: [], ...(format && { format }) };
    }
    case 'moderation':
      return { ...members, kind, texts: TEXTS.slice(0, widthOf(file)) };
    default:
      return chatCall({ stream });
  }
}

/** How many texts a reply is about. */
function widthOf(file: string): number {
  const { data, embeddings, results, predictions } = JSON.parse(Buffer.from(replyBytes(recordedCase(file))).toString());
  return (data ?? embeddings?.float ?? embeddings ?? predictions ?? results ?? [0]).length;
}

function eventsOf(dialect: ProviderDialect, recorded: OwnRecording, chunks: readonly Uint8Array[]) {
  const reader = dialect.reader(callOf(dialect.kind, recorded), replyContentType(recorded), {});
  return [...chunks.flatMap((chunk) => reader.read(chunk)), ...reader.end()].flatMap((frame) => frame.events);
}

describe('our own recordings', () => {
  test.each([...PROVIDER_DIALECTS.keys()])(
    'cover %s: a non-streaming reply, and a streaming one where it streams',
    (name) => {
      const good = recordingsOf(name).filter(({ status }) => status === 200);
      expect(good.some(({ stream }) => !stream)).toBe(true);
      expect(good.some(({ stream }) => stream)).toBe(STREAMING.includes(name));
    },
  );

  test('cover what a conversation may hold, and the states of a video', () => {
    const found = new Set(ownRecordings.flatMap(({ features }) => features));
    expect(FEATURES.filter((feature) => !found.has(feature))).toEqual([]);
    const states = ['created', 'in-progress', 'completed', 'failed'].map((name) =>
      recordedCase(`openai-videos/${name}.json`),
    );
    const looks = states.map((recorded) => {
      const answered = { status: 200, headers: new Headers(), body: replyBytes(recorded) };
      return openaiVideo.readPoll(answered, 'video_own1', {
        model: 'm',
        baseUrl: 'http://127.0.0.1/v1',
        settings: {},
      } as never);
    });
    expect(looks.map(({ state }) => state)).toEqual(['queued', 'in_progress', 'completed', 'failed']);
  });

  for (const [name, dialect] of PROVIDER_DIALECTS) {
    test.each(recordingsOf(name).map((recorded) => [recorded.file, recorded] as const))(
      'are read: %s',
      (_, recorded) => {
        const bytes = replyBytes(recorded);
        if (recorded.status !== 200) {
          const error = dialect.readError(recorded.status, new Headers(recorded.response_headers), bytes);
          expect(error).toBeInstanceOf(GatewayError);
          expect(error.status === recorded.status || error.code.startsWith('upstream_')).toBe(true);
          return;
        }
        const events = eventsOf(dialect, recorded, [bytes]);
        const ends = events.filter(({ type }) => type === 'reply-end' || type === 'error');
        expect(ends).toHaveLength(1);
        const isFailure = recorded.features.includes('error') || recorded.features.includes('safety-block');
        if (ends[0]?.type === 'error') expect(isFailure).toBe(true);
        else expect(isFailure && recorded.stream).toBe(false);
        if (dialect.kind !== 'chat') return;
        for (const seed of [1, 7]) expect(eventsOf(dialect, recorded, cutBytes(bytes, seed))).toEqual(events);
      },
    );
  }
});

describe('the manifest', () => {
  test('has a row for each file, with its source and its date, and no more', () => {
    const named = ownRecordings.flatMap(({ file, request_file: request }) => [file, ...(request ? [request] : [])]);
    const found = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'manifest.json')
      .map((entry) => `own/${entry.parentPath.slice(FOLDER.length + 1)}/${entry.name}`);
    expect(found.toSorted()).toEqual(named.toSorted());
    for (const { source, date, provenance } of ownRecordings) {
      expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
      if (provenance === 'sandbox') expect(existsSync(join(import.meta.dir, '..', source))).toBe(true);
      else expect(source).toMatch(/^https:\/\//);
    }
  });

  test('stands for a small set', () => {
    const files = readdirSync(FOLDER, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const sizes = files.map((entry) => statSync(join(entry.parentPath, entry.name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES);
  });
});

test('suites that need the outside folder are counted', () => {
  // In two parts, or this line would be counted too.
  const mark = `skipIf(${'!hasFixtures'})`;
  expect(outsideOnly([`describe.${mark}('a')`, `test('b')\ntest.${mark}('c')`, ''])).toBe(2);
});
