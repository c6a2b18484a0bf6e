// Calls of other kinds than conversations with the official libraries: one JSON line in, one JSON line out; `id` joins the two.
import { createCohere } from '@ai-sdk/cohere';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { GoogleGenAI } from '@google/genai';
import * as ai from 'ai';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import OpenAI, { toFile } from 'openai';
import { serveCalls } from './serve-calls.mjs';

// Each takes `{url, apiKey}` and the library's own request, and gives the library's own reply.
const CALLS = {
  'openai embeddings': (at, request) => openai(at).embeddings.create(request),
  'openai speech': async (at, request) => {
    const response = await openai(at).audio.speech.create(request);
    const bytes = Buffer.from(await response.arrayBuffer());
    return { type: response.headers.get('content-type'), base64: bytes.toString('base64') };
  },
  'openai transcriptions': (at, { file, ...request }) => transcript(openai(at).audio.transcriptions, file, request),
  'openai translations': (at, { file, ...request }) => transcript(openai(at).audio.translations, file, request),
  'openai moderations': (at, request) => openai(at).moderations.create(request),
  'genai embedContent': ({ url, apiKey }, request) =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } }).models.embedContent(
      request,
    ),
  'cohere rerank': ({ url, apiKey }, request) =>
    new CohereClient({ token: apiKey, environment: url, maxRetries: 0 }).rerank(request),
  'cohere v2 rerank': ({ url, apiKey }, request) =>
    new CohereClientV2({ token: apiKey, environment: url, maxRetries: 0 }).rerank(request),
  'ai embed': async (at, { model, ...request }) =>
    plain(await ai.embed({ model: sdk(at).embedding(model), maxRetries: 0, ...request }), 'embedding', 'usage'),
  'ai embedMany': async (at, { model, ...request }) =>
    plain(await ai.embedMany({ model: sdk(at).embedding(model), maxRetries: 0, ...request }), 'embeddings', 'usage'),
  'ai google embedMany': async ({ url, apiKey }, { model, ...request }) => {
    const google = createGoogle({ apiKey, baseURL: `${url}/v1beta` });
    return plain(await ai.embedMany({ model: google.embedding(model), maxRetries: 0, ...request }), 'embeddings');
  },
  'ai rerank': async ({ url, apiKey }, { model, ...request }) => {
    const cohere = createCohere({ apiKey, baseURL: `${url}/v2` });
    return plain(await ai.rerank({ model: cohere.reranking(model), maxRetries: 0, ...request }), 'ranking');
  },
  'ai generateSpeech': async (at, { model, ...request }) => {
    const { audio, warnings } = await ai.generateSpeech({ model: sdk(at).speech(model), maxRetries: 0, ...request });
    return { type: audio.mediaType, format: audio.format, base64: audio.base64, warnings };
  },
  'ai transcribe': async (at, { model, audio, ...request }) =>
    plain(
      await ai.transcribe({ model: sdk(at).transcription(model), audio, maxRetries: 0, ...request }),
      'text',
      'segments',
      'durationInSeconds',
    ),
};

const sdk = ({ url, apiKey }) => createOpenAI({ apiKey, baseURL: `${url}/v1` });

/** Getters and classes do not survive JSON. */
const plain = (result, ...names) => Object.fromEntries(names.map((name) => [name, result[name]]));

const openai = ({ url, apiKey }) => new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });

async function transcript(format, base64, request) {
  const file = await toFile(Buffer.from(base64, 'base64'), 'sound.wav');
  const reply = await format.create({ ...request, file });
  if (!request.stream) return reply;
  const events = [];
  for await (const event of reply) events.push(event);
  return events;
}

serveCalls(CALLS, (thrown) => {
  const status = thrown.status ?? thrown.statusCode;
  return { class: thrown.constructor.name, status, message: thrown.message };
});
