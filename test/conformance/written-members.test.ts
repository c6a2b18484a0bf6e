/** Written replies contain no member, and no null, that never occurs in recordings of the format. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Call } from '../../src/canonical/call.ts';
import type { ReplyEvent } from '../../src/canonical/reply.ts';
import { dialectNamed } from '../../src/dialects/index.ts';
import { hasFixtures, isOwn, recordedCases, replyBytes } from '../helpers/fixtures.ts';
import { addPaths, payloadsIn } from './member-paths.ts';
import { sources, TARGETS, translationsOf, WIRES } from './translate-replies.ts';

const SPECIFIED = 'docs/api.md#usage has it';
const DOCUMENTED = 'the provider documents it; no recording happens to have it';
const OURS = 'carries what the format has no word for, so that nothing is lost';

/** Exceptions: the beginning of the path, and the reason. */
const ALLOWED: { readonly [format: string]: readonly (readonly [path: RegExp, reason: string])[] } = {
  'openai-chat': [
    [/logprobs\.content\[\]\./, DOCUMENTED],
    [/tool_calls\[\](<custom>)?\.(custom|id|index|type)/, DOCUMENTED],
    [
      /tool_calls\[\](<function>)?\.extra_content$|^choices\[\]\.delta\.extra_content$/,
      "Google's own place for a signature, which comes back",
    ],
    [/annotations\[\]<url_citation>\.index$/, 'the official library adds lists up by it'],
    [/^usage\.(completion|prompt)_tokens_details\.text_tokens$/, SPECIFIED],
  ],
  'openai-completions': [
    [/^usage\.(completion|prompt)_tokens_details/, SPECIFIED],
    [/^usage\.server_tool_use_details/, OURS],
    [/^choices\[\]\.logprobs\./, DOCUMENTED],
  ],
  'openai-responses': [
    [/usage\.(prompt|completion)_tokens(_details)?/, SPECIFIED],
    [/usage\.server_tool_use_details/, OURS],
    [/logprobs\[\]\.top_logprobs/, DOCUMENTED],
    [/<refusal>|<response\.refusal\.|<response\.incomplete>/, DOCUMENTED],
    [/^error\.|^incomplete_details\.reason$/, DOCUMENTED],
    [/<response\.function_call_arguments\.done>\.name$/, DOCUMENTED],
    [/<image_generation_call>\.output_format$/, DOCUMENTED],
  ],
  'anthropic-messages': [[/<redacted_thinking>\.(data|type)$/, DOCUMENTED]],
  gemini: [
    [/retrievedContext\.uri$/, 'documented; AI SDK 4 demands it'],
    [/logprobsResult/, DOCUMENTED],
    [/^usageMetadata\.serverToolCallCount$/, OURS],
  ],
  'openai-images': [[/^usage\./, DOCUMENTED]],
  rerank: [[/document/, 'docs/api.md#rerank has it, where the client asks for documents']],
};

const common = {
  model: 'm',
  stream: false,
  extras: {},
  headers: {},
  origin: { dialect: 'none', body: new Uint8Array() },
};
const USED: ReplyEvent = {
  type: 'usage',
  usage: { input: 3, output: 4, imageOutput: 4, images: 1, searches: 1, source: 'reported' },
};
const image = (part: number, url?: string): ReplyEvent[] => [
  {
    type: 'part-start',
    choice: 0,
    part,
    opens: { type: 'image', mimeType: 'image/png', revisedPrompt: 'A cat', ...(url && { url }) },
  },
  { type: 'part-delta', choice: 0, part, delta: url ? '' : 'AAAA' },
  { type: 'part-end', choice: 0, part },
];

/** A complete reply of each format, with everything it may contain. */
const WHOLE: { readonly [format: string]: { call: Call; events: ReplyEvent[]; wire: string } } = {
  'openai-embeddings': {
    wire: 'openai-embeddings',
    call: { ...common, kind: 'embed', inputs: ['a'], encoding: 'float' },
    events: [{ type: 'result', result: { type: 'vectors', vectors: [{ index: 0, values: [0.5] }] } }, USED],
  },
  'openai-images': {
    wire: 'openai-images',
    call: { ...common, kind: 'image', prompt: 'A cat', images: [], edit: false, n: 1, size: {} },
    events: [{ type: 'reply-start', id: 'r', model: 'm', createdSeconds: 7 }, ...image(0), USED],
  },
  rerank: {
    wire: 'cohere-rerank',
    call: { ...common, kind: 'rerank', query: 'q', documents: ['a'], returnDocuments: true },
    events: [
      { type: 'reply-start', id: 'r', model: 'm' },
      { type: 'result', result: { type: 'ranking', ranking: [{ index: 0, score: 0.5 }] } },
      USED,
    ],
  },
};

function pathsIn(bodies: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const body of bodies) for (const payload of payloadsIn(body)) addPaths(payload, found);
  return found;
}

function natively(wire: string, stream?: boolean): Set<string> {
  const recorded = recordedCases(wire).filter(
    (one) => one.status === 200 && !isOwn(one) && (stream ?? one.stream) === one.stream,
  );
  return pathsIn(recorded.map((one) => Buffer.from(replyBytes(one)).toString()));
}

const unwritten = (format: string, written: Set<string>, native: Set<string>) =>
  [...written]
    .filter((path) => !native.has(path) && !ALLOWED[format]?.some(([allowed]) => allowed.test(path)))
    .toSorted();

describe.skipIf(!hasFixtures)('replies contain only members and nulls that providers write', () => {
  /** For each format, streaming or not, the paths in everything written for it. */
  const written = new Map<string, Set<string>>();
  let count = 0;
  beforeAll(() => {
    for (const source of sources()) {
      if (source.error) continue;
      for (const { target, stream, body } of translationsOf(source)) {
        if (target.name === source.dialect.name) continue;
        const key = `${target.name} ${stream}`;
        const found = written.get(key) ?? new Set();
        written.set(key, found);
        for (const payload of payloadsIn(body)) addPaths(payload, found);
        count++;
      }
    }
  }, 300_000);

  for (const target of TARGETS) {
    test.each([false, true])(
      `${target.name}, stream %p`,
      (stream) => {
        expect(count).toBeGreaterThan(5000);
        // A Gemini stream consists of complete responses.
        const native = natively(WIRES[target.name] ?? target.name, target.name === 'gemini' ? undefined : stream);
        expect(unwritten(target.name, written.get(`${target.name} ${stream}`) ?? new Set(), native)).toEqual([]);
      },
      60_000,
    );
  }

  test.each(Object.entries(WHOLE))('%s', (format, { call, events, wire }) => {
    const writer = dialectNamed(format)?.writer(call);
    if (!writer) throw new Error(`There is no ${format}.`);
    writer.write({ bytes: new Uint8Array(), events });
    const body = Buffer.from(writer.end()).toString();
    expect(payloadsIn(body)).toHaveLength(1);
    expect(unwritten(format, pathsIn([body]), natively(wire))).toEqual([]);
  });

  test('every exception is used', () => {
    const unused = TARGETS.flatMap(({ name: format }) =>
      (ALLOWED[format] ?? []).filter(
        ([allowed]) =>
          ![false, true].some((stream) =>
            [...(written.get(`${format} ${stream}`) ?? [])].some((path) => allowed.test(path)),
          ),
      ),
    );
    expect(unused).toEqual([]);
  });
});
