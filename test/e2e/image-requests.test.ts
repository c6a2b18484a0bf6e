/** Images and speech requested in chat, with the sandbox and a provider: each format, streaming and non-streaming, and the cost. */
import { describe, expect, test } from 'bun:test';
import { nanoCost, type Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies are looked into as a client would
type Body = any;

const PER_IMAGE = 2_000_000n;

const scene = useScene();

function pixels(base64: string): string {
  const png = Buffer.from(base64, 'base64');
  expect(png.toString('latin1', 1, 4)).toBe('PNG');
  return `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;
}

const MARKDOWN = /^!\[image\]\(data:image\/png;base64,([A-Za-z0-9+/=]+)\)$/;
const request = (more: object = {}) => ({
  model: 'sandbox-image',
  stream: false,
  messages: [{ role: 'user', content: 'A cat' }],
  contents: [{ role: 'user', parts: [{ text: 'A cat' }] }],
  ...more,
});

async function events(response: Response): Promise<Body[]> {
  const lines = (await response.text()).split(/\r?\n/).filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice(6)));
}

async function post(stage: Stage, path: string, body: object): Promise<Response> {
  const response = await fetch(scene.gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.caller.key}`, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return response;
}

describe('an image in chat', () => {
  test('non-streaming: Markdown in the content, the requested size, the price of one image', async () => {
    const stage = await scene.stage();
    const more = { extra_body: { google: { image_config: { aspect_ratio: '16:9', image_size: '1K' } } } };
    const response = await post(stage, '/v1/chat/completions', request(more));
    expect(response.headers.get('x-modelport-warnings')).toBeNull();
    expect(response.headers.get('x-modelport-cost')).toBe('0.002');
    const reply: Body = await response.json();
    expect(reply).toMatchObject({ object: 'chat.completion', choices: [{ index: 0, finish_reason: 'stop' }] });
    expect(reply.usage.total_tokens).toBe(reply.usage.prompt_tokens + reply.usage.completion_tokens);
    expect(pixels(MARKDOWN.exec(reply.choices[0].message.content)?.[1] ?? '')).toBe('1376x768');
    const call = await stage.settledCall();
    expect([nanoCost(call), call.usage]).toEqual([PER_IMAGE, expect.objectContaining({ images: 1 })]);
  });

  test('streaming: the same content', async () => {
    const stage = await scene.stage();
    const chunks = await events(await post(stage, '/v1/chat/completions', request({ stream: true })));
    const content = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    expect(pixels(MARKDOWN.exec(content)?.[1] ?? '')).toBe('1024x1024');
    expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
  });

  test('several images: each at its price', async () => {
    const stage = await scene.stage();
    const reply: Body = await (await post(stage, '/v1/chat/completions', request({ n: 3 }))).json();
    expect(reply.choices).toHaveLength(3);
    expect(nanoCost(await stage.settledCall())).toBe(3n * PER_IMAGE);
  });

  test('an invalid size: 400, nothing charged', async () => {
    const stage = await scene.stage();
    const response = await stage.post('/v1/chat/completions', request({ image_config: { aspect_ratio: 'wide' } }));
    expect(response.status).toBe(400);
    expect((await stage.settledCall()).cost).toBe('0');
  });
});

const GENERATE = '/v1beta/models/sandbox-image:generateContent';
const CONTENTS = [{ role: 'user', parts: [{ text: 'A cat' }] }];

describe('Format C', () => {
  test.each([GENERATE, `${GENERATE}/`, '/v1beta/models/sandbox-image:streamGenerateContent?alt=sse'])(
    'images: %s',
    async (path) => {
      const stage = await scene.stage();
      const generationConfig = {
        responseModalities: ['TEXT', 'IMAGE'],
        imageConfig: { aspectRatio: '2:1', imageSize: '512' },
      };
      const response = await post(stage, path, { contents: CONTENTS, generationConfig });
      const replies = path.includes('sse') ? await events(response) : [await response.json()];
      const parts = replies.flatMap((reply: Body) => reply.candidates[0].content.parts);
      const [image] = parts.filter((part: Body) => part.inlineData);
      expect(image.inlineData.mimeType).toBe('image/png');
      expect(pixels(image.inlineData.data)).toBe('736x352');
      expect(parts.map((part: Body) => part.text ?? '').join('')).toContain('generated a pattern');
      expect(nanoCost(await stage.settledCall())).toBe(PER_IMAGE);
    },
  );

  test('speech as samples', async () => {
    const stage = await scene.stage();
    const generationConfig = {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    };
    const path = '/v1beta/models/sandbox-chat:generateContent';
    const reply: Body = await (await post(stage, path, { contents: CONTENTS, generationConfig })).json();
    const parts = reply.candidates[0].content.parts.filter((part: Body) => part.inlineData);
    expect(parts[0].inlineData.mimeType).toStartWith('audio/L16');
    expect(Buffer.from(parts[0].inlineData.data, 'base64').length).toBeGreaterThan(10_000);
  });
});

describe('from other formats', () => {
  test('Responses: an image is an item of its own', async () => {
    const stage = await scene.stage();
    const reply: Body = await (await post(stage, '/v1/responses', { model: 'sandbox-image', input: 'A cat' })).json();
    const [item] = reply.output.filter(({ type }: Body) => type === 'image_generation_call');
    expect(pixels(item.result)).toBe('1024x1024');
  });

  test('Messages: an image is Markdown', async () => {
    const stage = await scene.stage();
    const body = { model: 'sandbox-image', max_tokens: 100, messages: [{ role: 'user', content: 'A cat' }] };
    const reply: Body = await (await post(stage, '/v1/messages', body)).json();
    expect(pixels(MARKDOWN.exec(reply.content[0].text)?.[1] ?? '')).toBe('1024x1024');
  });
});

describe('speech in chat', () => {
  const speech = (format: string, more: object = {}) => ({
    model: 'sandbox-chat',
    messages: [{ role: 'user', content: 'Hello' }],
    modalities: ['text', 'audio'],
    audio: { voice: 'alloy', format },
    ...more,
  });

  test('non-streaming: a WAV with transcript and expiry', async () => {
    const stage = await scene.stage();
    const reply: Body = await (await post(stage, '/v1/chat/completions', speech('wav'))).json();
    const { audio, content } = reply.choices[0].message;
    expect(content).toBeNull();
    expect(audio.transcript).toContain('"Hello"');
    expect(audio.expires_at).toBeGreaterThan(reply.created);
    expect(Buffer.from(audio.data, 'base64').toString('latin1', 0, 4)).toBe('RIFF');
  });

  test('streaming: samples in pieces', async () => {
    const stage = await scene.stage();
    const chunks = await events(await post(stage, '/v1/chat/completions', speech('pcm16', { stream: true })));
    const pieces = chunks.flatMap((chunk) => chunk.choices[0]?.delta.audio ?? []);
    expect(pieces[0].id).toStartWith('audio_');
    expect(pieces.map(({ transcript = '' }) => transcript).join('')).toContain('"Hello"');
    expect(Buffer.from(pieces.map(({ data = '' }) => data).join(''), 'base64').length).toBeGreaterThan(10_000);
  });

  test('from a provider that returns samples: a WAV for a client that requests one', async () => {
    const stage = await scene.stage({ type: 'google', upstreamModel: 'gemini-2.5-flash-preview-tts' });
    const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data: Buffer.alloc(48).toString('base64') };
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 9, totalTokenCount: 12 };
    const candidates = [{ content: { role: 'model', parts: [{ inlineData }] }, finishReason: 'STOP', index: 0 }];
    stage.script({ json: { candidates, usageMetadata } });
    const response = await post(stage, '/v1/chat/completions', { ...speech('wav'), model: stage.model });
    const reply: Body = await response.json();
    expect(Buffer.from(reply.choices[0].message.audio.data, 'base64').toString('latin1', 0, 4)).toBe('RIFF');
    expect(stage.journal()[0]?.body?.generationConfig).toMatchObject({
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    });
    expect(response.headers.get('x-modelport-warnings')).toContain('alloy');
  });
});
