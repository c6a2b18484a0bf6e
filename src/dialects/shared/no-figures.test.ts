/** Invalid reports: values that are not counts, and zero tokens for something that is there. */
import { describe, expect, test } from 'bun:test';
import type { Call } from '../../canonical/call.ts';
import type { Usage } from '../../canonical/usage.ts';
import { providerDialectNamed } from '../index.ts';

const MEMBERS = { model: 'm', stream: false, extras: {}, headers: {} } as const;
const ORIGIN = { dialect: 'a-dialect', body: new Uint8Array() };
const TEXT = 'Twenty characters ok';
const EMBED: Call = { ...MEMBERS, origin: ORIGIN, kind: 'embed', inputs: [TEXT], encoding: 'float' };
const RERANK: Call = {
  ...MEMBERS,
  origin: ORIGIN,
  kind: 'rerank',
  query: TEXT,
  documents: [TEXT],
  returnDocuments: false,
};
const MODERATION: Call = { ...MEMBERS, origin: ORIGIN, kind: 'moderation', texts: [TEXT] } as unknown as Call;
const TRANSCRIPTION = {
  ...MEMBERS,
  origin: ORIGIN,
  kind: 'transcription',
  format: 'json',
  length: { seconds: 3, mostSeconds: 3 },
} as unknown as Call;
const IMAGE = { ...MEMBERS, origin: ORIGIN, kind: 'image', prompt: TEXT, images: [], n: 1 } as unknown as Call;

function usageOf(dialect: string, call: Call, body: string): Usage | undefined {
  const reader = providerDialectNamed(dialect)!.reader(call, 'application/json', {});
  const frames = [...reader.read(Buffer.from(body)), ...reader.end()];
  const usages = frames.flatMap(({ events }) => events.flatMap((one) => (one.type === 'usage' ? [one.usage] : [])));
  return usages.at(-1);
}

/** The count of each format in its member. */
const BODIES: readonly [dialect: string, call: Call, body: (figure: string) => string][] = [
  [
    'openai-embeddings',
    EMBED,
    (n) => `{"data":[{"index":0,"embedding":[0.5]}],"model":"m","usage":{"prompt_tokens":${n},"total_tokens":${n}}}`,
  ],
  [
    'cohere-embed',
    EMBED,
    (n) => `{"id":"a","embeddings":{"float":[[0.5]]},"meta":{"billed_units":{"input_tokens":${n}}}}`,
  ],
  ['gemini-batch-embed', EMBED, (n) => `{"embeddings":[{"values":[0.5]}],"usageMetadata":{"promptTokenCount":${n}}}`],
  [
    'vertex-embeddings',
    EMBED,
    (n) => `{"predictions":[{"embeddings":{"values":[0.5],"statistics":{"token_count":${n}}}}]}`,
  ],
  ['rerank', RERANK, (n) => `{"results":[{"index":0,"relevance_score":0.5}],"meta":{"tokens":{"input_tokens":${n}}}}`],
  ['voyage-rerank', RERANK, (n) => `{"data":[{"index":0,"relevance_score":0.5}],"usage":{"total_tokens":${n}}}`],
  [
    'openai-moderations',
    MODERATION,
    (n) => `{"id":"a","results":[{"flagged":false}],"usage":{"prompt_tokens":${n},"total_tokens":${n}}}`,
  ],
  [
    'openai-transcriptions',
    TRANSCRIPTION,
    (n) => `{"text":"hello","usage":{"type":"tokens","input_tokens":${n},"output_tokens":2,"total_tokens":${n}}}`,
  ],
];

describe.each(BODIES)('%s', (dialect, call, body) => {
  test('a count above zero is reported', () => {
    expect(usageOf(dialect, call, body('7'))).toMatchObject({ input: 7, source: 'reported' });
  });

  test.each(['0', '1e999', '-5', '1.5', '1e308', '"12"', 'null', 'true'])(
    '%s is invalid: the input is counted here',
    (n) => {
      const usage = usageOf(dialect, call, body(n));
      expect(usage?.source).toBe('counted');
      expect(usage?.input).toBeGreaterThanOrEqual(5);
      expect(usage?.input).toBeLessThan(80);
    },
  );
});

test('images reported with zero tokens are charged as images', () => {
  const body = (n: number) =>
    `{"created":1,"data":[{"b64_json":"aGk="}],"usage":{"input_tokens":${n},"output_tokens":${n},"total_tokens":${2 * n}}}`;
  expect(usageOf('openai-images', IMAGE, body(0))).toMatchObject({ images: 1, source: 'counted' });
  expect(usageOf('openai-images', IMAGE, body(9))).toMatchObject({ images: 1, output: 9, source: 'reported' });
});

test.each(['1e999', '-3', '"x"'])('a transcript of %s seconds is as long as its audio', (seconds) => {
  expect(usageOf('openai-transcriptions', TRANSCRIPTION, `{"text":"hi","duration":${seconds}}`)?.seconds).toBe(3);
});
