/** Every recorded embedding and ranking: read, written for its clients, and read again with the same meaning. */
import { describe, expect, test } from 'bun:test';
import type { EmbedCall, RerankCall } from '../../src/canonical/call.ts';
import type { Reply, Vector } from '../../src/canonical/reply.ts';
import { vectorBase64, vectorNumbers } from '../../src/canonical/vectors.ts';
import type { Dialect, ProviderDialect } from '../../src/dialects/dialect.ts';
import { dialectNamed, providerDialectNamed } from '../../src/dialects/index.ts';
import type { Quirks } from '../../src/dialects/shared/quirks.ts';
import { PROVIDERS } from '../../src/providers/index.ts';
import { CALL_DEFAULTS } from '../helpers/chat-call.ts';
import { cutBytes, type RecordedCase, recordedCases, replyBytes, requestBytes } from '../helpers/fixtures.ts';
import { readFrames, replyOf } from './dialect-laws.ts';

const WIRES: { [wire: string]: string } = {
  'openai-embeddings': 'openai-embeddings',
  'gemini-batch-embed': 'gemini-batch-embed',
  'cohere-embed': 'cohere-embed',
  'vertex-embeddings': 'vertex-embeddings',
  'cohere-rerank': 'rerank',
  'voyage-rerank': 'voyage-rerank',
};
const CLIENTS = ['openai-embeddings', 'gemini-batch-embed'] as const;

for (const [wire, name] of Object.entries(WIRES)) {
  const upstream = requiredUpstream(name);
  const cases = recordedCases(wire).map((recorded) => [recorded.file, recorded] as const);
  const answered = cases.filter(([, recorded]) => recorded.status === 200);
  const refused = cases.filter(([, recorded]) => recorded.status !== 200);
  const withRequest = answered.filter(([, recorded]) => requestBytes(recorded) !== undefined);

  describe.skipIf(cases.length === 0)(`${cases.length} recordings of ${wire}`, () => {
    if (upstream.kind === 'embed') {
      test.each(answered)('its vectors reach every client exactly: %s', (_, recorded) => {
        const vectors = vectorsOf(read(upstream, embedCall(widthOf(recorded)), recorded));
        expect(vectors.length).toBeGreaterThan(0);
        for (const client of CLIENTS.map(required)) {
          for (const encoding of ['float', 'base64'] as const) {
            const call = { ...embedCall(vectors.length), encoding };
            const again = vectorsOf(reread(client, upstream, call, recorded));
            expect(again.map(vectorBase64)).toEqual(vectors.map(vectorBase64));
          }
        }
      });

      test.each(withRequest)('its request is rewritten with the same meaning: %s', (_, recorded) => {
        if (name !== 'openai-embeddings' && name !== 'gemini-batch-embed') return;
        const body = requestBytes(recorded) ?? new Uint8Array();
        const path: { [name: string]: string } = name === 'gemini-batch-embed' ? { model: 'm' } : {};
        const own = required(name);
        const call = own.readCall({ body, headers: new Headers(), path, query: new URLSearchParams() });
        const written = upstream.writeCall(call, call.model, {});
        const again = own.readCall({
          body: written.body,
          headers: new Headers(),
          path,
          query: new URLSearchParams(),
        });
        expect({ ...again, origin: undefined, encoding: undefined }).toEqual({
          ...call,
          origin: undefined,
          encoding: undefined,
        });
        expect(written.warnings).toEqual([]);
      });
    } else {
      test.each(answered)('its ranking reaches the client: %s', (_, recorded) => {
        const call = rerankCall();
        const reply = read(upstream, call, recorded);
        const client = required('rerank');
        const writer = client.writer(call);
        for (const frame of frames(upstream, call, recorded, 3)) expect(writer.write(frame)).toHaveLength(0);
        const body = JSON.parse(Buffer.from(writer.end()).toString());
        const scores = body.results.map((row: { relevance_score: number }) => row.relevance_score);
        expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
        expect(reply.result).toMatchObject({ type: 'ranking' });
        expect(body.results[0].document).toEqual({ text: `document ${body.results[0].index}` });
        expect(body).toMatchObject({
          id: expect.any(String),
          meta: { billed_units: { search_units: expect.any(Number) } },
        });
      });
    }

    test.each(refused)('its refusal is read as one: %s', (_, recorded) => {
      const error = upstream.readError(recorded.status, new Headers(), replyBytes(recorded));
      expect(error).toMatchObject({ code: 'upstream_refused', status: recorded.status, retryable: false });
    });
  });
}

/** What the client's reader gets from the translated reply of an upstream. */
function reread(client: Dialect, upstream: ProviderDialect, call: EmbedCall, recorded: RecordedCase): Reply {
  const own = client.name === upstream.name;
  const writer = client.writer(call);
  const parts = frames(upstream, call, recorded, 7).map((frame) => (own ? writer.pass(frame) : writer.write(frame)));
  const reader = client.reader(call, 'application/json', {});
  return replyOf(
    [...reader.read(Buffer.concat([...parts, writer.end()])), ...reader.end()].flatMap(({ events }) => events),
  );
}

function frames(dialect: ProviderDialect, call: EmbedCall | RerankCall, recorded: RecordedCase, seed: number) {
  return readFrames(dialect, call, recorded, quirksOf(recorded), cutBytes(replyBytes(recorded), seed));
}

function read(dialect: ProviderDialect, call: EmbedCall | RerankCall, recorded: RecordedCase): Reply {
  const events = frames(dialect, call, recorded, 1).flatMap((frame) => frame.events);
  expect(events.at(-1)).toEqual({ type: 'reply-end' });
  return replyOf(events);
}

function vectorsOf({ result }: Reply): Vector[] {
  if (result?.type !== 'vectors') throw new Error('the reply has no vectors');
  expect(result.vectors.every((vector, index) => vector.index === index && vectorNumbers(vector).length > 0)).toBe(
    true,
  );
  return result.vectors;
}

function quirksOf({ provider }: RecordedCase): Quirks {
  return PROVIDERS.get(provider)?.otherQuirks?.embed ?? {};
}

/** The number of texts in the request, derived from the reply. */
function widthOf(recorded: RecordedCase): number {
  const { data, embeddings, predictions } = JSON.parse(Buffer.from(replyBytes(recorded)).toString());
  return (data ?? predictions ?? embeddings.float ?? embeddings).length;
}

function embedCall(width: number): EmbedCall {
  return {
    ...CALL_DEFAULTS,
    kind: 'embed',
    inputs: Array.from({ length: width }, (_, place) => `text ${place}`),
    encoding: 'float',
  };
}

function rerankCall(): RerankCall {
  return {
    ...CALL_DEFAULTS,
    kind: 'rerank',
    query: 'a query',
    documents: Array.from({ length: 10 }, (_, place) => `document ${place}`),
    returnDocuments: true,
  };
}

function requiredUpstream(name: string): ProviderDialect {
  const dialect = providerDialectNamed(name);
  if (!dialect) throw new Error(`there is no dialect ${name}`);
  return dialect;
}

function required(name: string): Dialect {
  const dialect = dialectNamed(name);
  if (!dialect) throw new Error(`there is no dialect ${name}`);
  return dialect;
}
