// The official libraries' doors to images: one JSON line in, what the library's user sees as one JSON line out; `id` joins the two.
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { GoogleGenAI } from '@google/genai';
import { generateImage } from 'ai';
import OpenAI, { toFile } from 'openai';
import { serveCalls } from './serve-calls.mjs';

const openai = ({ url, apiKey }) => new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
const genai = ({ url, apiKey }, more = {}) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } }, ...more });
const file = (base64, name) => toFile(Buffer.from(base64, 'base64'), name, { type: 'image/png' });

// Each takes where to ask and the library's own request, and gives the library's own reply.
const CALLS = {
  'openai generate': async (at, request) => collected(await openai(at).images.generate(request)),
  'openai edit': async (at, { images, mask, ...request }) => {
    const files = await Promise.all(images.map((base64, index) => file(base64, `${index + 1}.png`)));
    const image = files.length === 1 ? files[0] : files;
    const masked = mask && { mask: await file(mask, 'mask.png') };
    return collected(await openai(at).images.edit({ ...request, image, ...masked }));
  },
  'ai openai': ({ url, apiKey }, { model, ...request }) =>
    drawn(createOpenAI({ apiKey, baseURL: `${url}/v1` }).image(model), request),
  'ai compatible': ({ url, apiKey }, { model, ...request }) =>
    drawn(createOpenAICompatible({ name: 'modelport', apiKey, baseURL: `${url}/v1` }).imageModel(model), request),
  'ai google': ({ url, apiKey }, { model, ...request }) =>
    drawn(createGoogle({ apiKey, baseURL: `${url}/v1beta` }).image(model), request),
  'genai generate': async (at, request) => partsOf(await genai(at).models.generateContent(request)),
  'genai stream': async (at, request) => {
    const parts = [];
    for await (const chunk of await genai(at).models.generateContentStream(request))
      parts.push(...partsOf(chunk).parts);
    return { parts };
  },
  'genai chat': async (at, { messages, ...request }) => {
    const chat = genai(at).chats.create(request);
    const replies = [];
    for (const message of messages) replies.push(partsOf(await chat.sendMessage({ message })));
    return replies;
  },
  'genai images': (at, request) => genai(at).models.generateImages(request),
};

async function collected(reply) {
  if (!reply[Symbol.asyncIterator]) return reply;
  const events = [];
  for await (const event of reply) events.push(event);
  return events;
}

const bytesOf = (value) => (typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value);

async function drawn(model, { prompt, ...request }) {
  const inBytes =
    typeof prompt === 'string'
      ? prompt
      : { ...prompt, images: prompt.images.map(bytesOf), ...(prompt.mask && { mask: bytesOf(prompt.mask) }) };
  const { images, warnings, usage } = await generateImage({ model, prompt: inBytes, maxRetries: 0, ...request });
  return { images: images.map(({ base64, mediaType }) => ({ base64, mediaType })), warnings, usage };
}

function partsOf({ candidates = [], usageMetadata }) {
  return { parts: candidates.flatMap(({ content }) => content?.parts ?? []), usage: usageMetadata };
}

// Libraries tell of what is soon to go, or of what a model does not take, here.
console.warn = () => {};
globalThis.AI_SDK_LOG_WARNINGS = false;

serveCalls(CALLS, (thrown) => {
  const { lastError: failure = thrown } = thrown;
  const status = failure.status ?? failure.statusCode;
  return { class: failure.constructor.name, status, code: failure.code, message: failure.message };
});
