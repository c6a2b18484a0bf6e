/** Replies other than chat for mutations: recorded ones, the sandbox's own, and documented ones that only one provider sends. */
import type { Kind } from '../../src/canonical/call.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { recordedCases, replyBytes, replyContentType } from '../helpers/fixtures.ts';

export interface OtherReply {
  name: string;
  /** The provider's type, and its name of the model. */
  provider: string;
  model: string;
  kind: Kind;
  stream: boolean;
  contentType: string;
  body: Uint8Array;
}

/** The provider of each recorded wire format, and its name of the model. */
const RECORDED: { readonly [kind in Kind]?: { readonly [wire: string]: readonly [provider: string, model: string] } } =
  {
    image: {
      'openai-images': ['openai', 'gpt-image-1'],
      'openai-images-edits': ['openai', 'gpt-image-1'],
      'imagen-predict': ['google', 'imagen-4.0-generate-001'],
      'dashscope-images': ['dashscope', 'qwen-image-2.0'],
      'dashscope-image-tasks': ['dashscope', 'wan2.2-t2i-flash'],
      stability: ['stability', 'core'],
    },
    embed: {
      'openai-embeddings': ['openai', 'text-embedding-3-small'],
      'cohere-embed': ['cohere', 'embed-v4.0'],
      'gemini-batch-embed': ['google', 'gemini-embedding-001'],
      'vertex-embeddings': ['vertex', 'text-embedding-005'],
    },
    rerank: {
      'cohere-rerank': ['cohere', 'rerank-v3.5'],
      'voyage-rerank': ['voyage', 'rerank-2.5'],
      'dashscope-rerank': ['dashscope', 'gte-rerank-v2'],
    },
    moderation: {
      'openai-moderations': ['openai', 'omni-moderation-latest'],
    },
    speech: {
      'openai-speech': ['openai', 'gpt-4o-mini-tts'],
      'gemini-speech': ['google', 'gemini-2.5-flash-preview-tts'],
      'elevenlabs-speech': ['elevenlabs', 'eleven_v3'],
    },
    transcription: {
      'openai-transcriptions': ['openai', 'gpt-4o-transcribe'],
    },
  };

const recorded = (): OtherReply[] =>
  Object.entries(RECORDED).flatMap(([kind, formats]) =>
    Object.entries(formats).flatMap(([wire, [provider, model]]) =>
      recordedCases(wire)
        .filter(({ status }) => status === 200)
        .map((one) => ({
          name: one.file,
          provider,
          model,
          kind: kind as Kind,
          stream: one.stream,
          contentType: replyContentType(one),
          body: replyBytes(one),
        })),
    ),
  );

const json = (body: object): Pick<OtherReply, 'stream' | 'contentType' | 'body'> => ({
  stream: false,
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify(body)),
});

const SEGMENT = {
  id: 0,
  seek: 0,
  start: 0,
  end: 3.2,
  text: ' Hello there.',
  tokens: [50364, 2425],
  avg_logprob: -0.2,
};
const HEARD = { text: 'Hello there.', language: 'english', duration: 3.2, segments: [SEGMENT, SEGMENT] };

/** From the providers' API references. */
const DOCUMENTED: readonly OtherReply[] = [
  {
    name: 'images of a conversation',
    provider: 'google',
    model: 'gemini-2.5-flash-image',
    kind: 'image',
    ...json({
      candidates: [
        {
          index: 0,
          content: {
            role: 'model',
            parts: [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290, totalTokenCount: 1295 },
      responseId: 'r',
    }),
  },
  {
    name: "a transcript that is made of another provider's",
    provider: 'mistral',
    model: 'voxtral-mini-latest',
    kind: 'transcription',
    ...json({ ...HEARD, usage: { prompt_audio_seconds: 4, total_tokens: 40 } }),
  },
];

/** Requests that the sandbox answers. */
const SANDBOX: readonly (readonly [kind: Kind, path: string, body: object])[] = [
  ['image', '/v1/images/generations', { model: 'sandbox-image', prompt: 'A cat', n: 2, size: '64x64' }],
  [
    'image',
    '/v1/images/generations',
    { model: 'sandbox-image', prompt: 'A cat', size: '64x64', stream: true, partial_images: 2 },
  ],
  ['embed', '/v1/embeddings', { model: 'sandbox-embed', input: ['a', 'b', 'c'], dimensions: 8 }],
  ['rerank', '/v1/rerank', { model: 'sandbox-rerank', query: 'a', documents: ['a', 'b', 'c'] }],
  ['moderation', '/v1/moderations', { model: 'sandbox-moderation', input: ['a', 'b'] }],
];

async function madeHere(): Promise<OtherReply[]> {
  const sandbox = createSandbox({ tokenMs: 0 });
  return Promise.all(
    SANDBOX.map(async ([kind, path, body]) => {
      const answer = await sandbox(
        new Request(`http://sandbox.invalid${path}`, { method: 'POST', body: JSON.stringify(body) }),
      );
      const bytes = await answer.bytes();
      if (answer.status !== 200) throw new Error(`The sandbox refused ${path}: ${Buffer.from(bytes)}`);
      const stream = 'stream' in body;
      const contentType = answer.headers.get('content-type') ?? '';
      // The sandbox's rankings have Cohere's format; everything else has OpenAI's.
      const provider = kind === 'rerank' ? 'cohere' : 'openai';
      return { name: `sandbox ${path}`, provider, model: 'any-model', kind, stream, contentType, body: bytes };
    }),
  );
}

export async function otherReplies(): Promise<OtherReply[]> {
  return [...recorded(), ...DOCUMENTED, ...(await madeHere())];
}
