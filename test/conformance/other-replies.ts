/** Replies other than chat for mutations: recorded ones, the sandbox's own, and documented ones of formats without recordings. */
import type { Kind } from '../../src/canonical/call.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { recordedCases, replyBytes, replyContentType } from '../fixtures.ts';

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

/** The sender of each recorded wire format. */
const RECORDED: { readonly [wire: string]: Pick<OtherReply, 'provider' | 'model' | 'kind'> } = {
  'openai-images': { provider: 'openai', model: 'gpt-image-1', kind: 'image' },
  'openai-images-edits': { provider: 'openai', model: 'gpt-image-1', kind: 'image' },
  'imagen-predict': { provider: 'google', model: 'imagen-4.0-generate-001', kind: 'image' },
  'openai-embeddings': { provider: 'openai', model: 'text-embedding-3-small', kind: 'embed' },
  'cohere-embed': { provider: 'cohere', model: 'embed-v4.0', kind: 'embed' },
  'gemini-batch-embed': { provider: 'google', model: 'gemini-embedding-001', kind: 'embed' },
  'vertex-embeddings': { provider: 'vertex', model: 'text-embedding-005', kind: 'embed' },
  'cohere-rerank': { provider: 'cohere', model: 'rerank-v3.5', kind: 'rerank' },
  'voyage-rerank': { provider: 'voyage', model: 'rerank-2.5', kind: 'rerank' },
  'openai-moderations': { provider: 'openai', model: 'omni-moderation-latest', kind: 'moderation' },
  'openai-speech': { provider: 'openai', model: 'gpt-4o-mini-tts', kind: 'speech' },
};

const recorded = (): OtherReply[] =>
  Object.entries(RECORDED).flatMap(([wire, sender]) =>
    recordedCases(wire)
      .filter(({ status }) => status === 200)
      .map((one) => ({
        ...sender,
        name: one.file,
        stream: one.stream,
        contentType: replyContentType(one),
        body: replyBytes(one),
      })),
  );

const json = (body: object): Pick<OtherReply, 'stream' | 'contentType' | 'body'> => ({
  stream: false,
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify(body)),
});

const events = (payloads: readonly object[]): Pick<OtherReply, 'stream' | 'contentType' | 'body'> => ({
  stream: true,
  contentType: 'text/event-stream',
  body: Buffer.from(payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`).join('')),
});

/** Half a second of silence at 24 kHz. */
const SAMPLES = Buffer.alloc(24_000).toString('base64');
const TOKENS = { input_tokens: 12, output_tokens: 34, total_tokens: 46 };
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
    name: 'DashScope images',
    provider: 'dashscope',
    model: 'qwen-image-2.0',
    kind: 'image',
    ...json({
      output: { choices: [{ message: { content: [{ image: 'https://images.test/1.png' }, { text: 'x' }] } }] },
      usage: { image_count: 1 },
    }),
  },
  {
    name: 'DashScope image tasks',
    provider: 'dashscope',
    model: 'wan2.2-t2i-flash',
    kind: 'image',
    ...json({
      output: { task_id: 't', task_status: 'SUCCEEDED', results: [{ url: 'https://images.test/1.png' }] },
      usage: { image_count: 1 },
    }),
  },
  {
    name: 'Stability',
    provider: 'stability',
    model: 'core',
    kind: 'image',
    ...json({ image: 'iVBORw0KGgo=', finish_reason: 'SUCCESS', seed: 7 }),
  },
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
    name: 'Gemini speech',
    provider: 'google',
    model: 'gemini-2.5-flash-preview-tts',
    kind: 'speech',
    ...events(
      [0, 1].map((at) => ({
        candidates: [
          {
            content: { role: 'model', parts: [{ inlineData: { mimeType: 'audio/L16;rate=24000', data: SAMPLES } }] },
            ...(at === 1 && { finishReason: 'STOP' }),
          },
        ],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 50, totalTokenCount: 55 },
      })),
    ),
  },
  {
    name: 'ElevenLabs speech',
    provider: 'elevenlabs',
    model: 'eleven_v3',
    kind: 'speech',
    stream: false,
    contentType: 'audio/mpeg',
    body: Buffer.from('ID3 an audio file'),
  },
  {
    name: 'speech in events',
    provider: 'openai',
    model: 'gpt-4o-mini-tts',
    kind: 'speech',
    ...events([
      { type: 'speech.audio.delta', audio: SAMPLES },
      { type: 'speech.audio.delta', audio: SAMPLES },
      { type: 'speech.audio.done', usage: TOKENS },
    ]),
  },
  {
    name: 'DashScope rerank',
    provider: 'dashscope',
    model: 'gte-rerank-v2',
    kind: 'rerank',
    ...json({
      output: {
        results: [
          { index: 1, relevance_score: 0.9 },
          { index: 0, relevance_score: 0.1 },
        ],
      },
      usage: { total_tokens: 9 },
      request_id: 'r',
    }),
  },
  {
    name: 'images in events',
    provider: 'openai',
    model: 'gpt-image-1',
    kind: 'image',
    ...events([
      { type: 'image_generation.partial_image', b64_json: 'iVBORw0KGgo=', partial_image_index: 0, created_at: 1 },
      {
        type: 'image_generation.completed',
        b64_json: 'iVBORw0KGgo=',
        created_at: 1,
        size: '1024x1024',
        usage: { ...TOKENS, input_tokens_details: { text_tokens: 12, image_tokens: 0 } },
      },
    ]),
  },
  {
    name: 'a transcript',
    provider: 'openai',
    model: 'gpt-4o-transcribe',
    kind: 'transcription',
    ...json({ text: 'Hello there.', usage: { type: 'tokens', ...TOKENS, input_token_details: { audio_tokens: 12 } } }),
  },
  { name: 'a transcript with times', provider: 'openai', model: 'whisper-1', kind: 'transcription', ...json(HEARD) },
  {
    name: "a transcript that is made of another provider's",
    provider: 'mistral',
    model: 'voxtral-mini-latest',
    kind: 'transcription',
    ...json({ ...HEARD, usage: { prompt_audio_seconds: 4, total_tokens: 40 } }),
  },
  {
    name: 'a transcript in events',
    provider: 'openai',
    model: 'gpt-4o-transcribe',
    kind: 'transcription',
    ...events([
      { type: 'transcript.text.delta', delta: 'Hello ' },
      { type: 'transcript.text.delta', delta: 'there.' },
      { type: 'transcript.text.done', text: 'Hello there.', usage: { type: 'tokens', ...TOKENS } },
    ]),
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
