/** The sandbox's features, requested and answered in each chat format. */
import { describe, expect, test } from 'bun:test';
import Schema from 'typebox/schema';
import type { ChatCall, Part } from '../../src/canonical/call.ts';
import { addEvent, emptyReply, type Reply } from '../../src/canonical/reply.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { dialectNamed } from '../../src/dialects/index.ts';
import { sandbox as provider, SANDBOX_BASE_URL } from '../../src/providers/chat/sandbox.ts';
import { pngSize } from '../../src/sandbox/image.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { chatCall } from '../helpers/chat-call.ts';

const sandbox = createSandbox({ sleep: () => Promise.resolve(), now: () => 1_700_000_000_000 });
const FORMATS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const;

const formatNamed = (name: string): Dialect => {
  const dialect = dialectNamed(name);
  if (!dialect) throw new Error(name);
  return dialect;
};

async function send(dialect: Dialect, call: ChatCall): Promise<Response> {
  const { body } = dialect.writeCall(call, call.model, {});
  const target = { model: call.model, baseUrl: SANDBOX_BASE_URL, credential: undefined, settings: {} };
  return sandbox(
    new Request(provider.url(target, dialect.name, call), {
      method: 'POST',
      headers: { 'anthropic-version': '2023-06-01' },
      body: Buffer.from(body),
    }),
  );
}

async function ask(name: string, members: Partial<ChatCall>, prompt = 'Hello there'): Promise<Reply> {
  const dialect = formatNamed(name);
  const call = chatCall({
    model: 'sandbox-chat',
    stream: false,
    messages: [{ role: 'user', parts: [{ type: 'text', text: prompt }] }],
    ...members,
  });
  const response = await send(dialect, call);
  expect(response.status).toBe(200);
  const reader = dialect.reader(call, response.headers.get('content-type') ?? '', {});
  const reply = emptyReply();
  const frames = [...reader.read(new Uint8Array(await response.arrayBuffer())), ...reader.end()];
  const events = frames.flatMap((frame) => frame.events);
  expect(events.at(-1)?.type).toBe('reply-end');
  for (const event of events) addEvent(reply, event);
  return reply;
}

const partsOf = (reply: Reply, type: string) =>
  (reply.choices[0]?.parts ?? []).filter(({ opens }) => opens.type === type);
const textOf = (reply: Reply, type = 'text') =>
  partsOf(reply, type)
    .map(({ content }) => content)
    .join('');
const callsOf = (reply: Reply) =>
  partsOf(reply, 'tool-call').map(({ opens, content }) => ({
    name: opens.type === 'tool-call' ? opens.name : '',
    input: JSON.parse(content) as unknown,
  }));

const WEATHER = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 3 } },
  required: ['city', 'days'],
};
const TOOLS: ChatCall['tools'] = [
  { type: 'function', name: 'get_weather', description: 'The weather in a city', parameters: WEATHER },
  { type: 'function', name: 'send_mail', parameters: { type: 'object', properties: {} } },
];

describe.each(FORMATS)('%s', (name) => {
  test('text is the same streaming and non-streaming, with usage', async () => {
    const [whole, streamed] = [await ask(name, {}), await ask(name, { stream: true })];
    expect(textOf(whole)).toContain('You wrote: "Hello there".');
    expect(textOf(streamed)).toBe(textOf(whole));
    expect(whole.usage?.output).toBeGreaterThan(10);
    expect({ ...streamed.usage }).toEqual({ ...whole.usage! });
    expect(whole.choices[0]?.finish?.reason).toBe('stop');
  });

  test('tools: several calls at once, with valid arguments, and their results', async () => {
    for (const stream of [false, true]) {
      const reply = await ask(name, { tools: TOOLS, stream }, 'Use get_weather, then send mail');
      expect(callsOf(reply).map((call) => call.name)).toEqual(['get_weather', 'send_mail']);
      expect(Schema.Check(WEATHER as never, callsOf(reply)[0]?.input)).toBe(true);
      expect(reply.choices[0]?.finish?.reason).toBe('tool-calls');
    }
    const call: Part = { type: 'tool-call', id: 'call_1', name: 'get_weather', input: '{"city":"Rome","days":1}' };
    const result: Part = {
      type: 'tool-result',
      callId: 'call_1',
      parts: [{ type: 'text', text: '21 degrees' }],
      failed: false,
    };
    const messages: ChatCall['messages'] = [
      { role: 'user', parts: [{ type: 'text', text: 'Weather?' }] },
      { role: 'assistant', parts: [call] },
      { role: 'tool', parts: [result] },
    ];
    expect(textOf(await ask(name, { tools: TOOLS, messages }))).toContain('get_weather said "');
    expect(textOf(await ask(name, { tools: TOOLS, messages }))).toContain('21 degrees');
  });

  test('structured output, a token limit, a refusal', async () => {
    const output = { type: 'json-schema' as const, name: 'weather', schema: WEATHER };
    expect(Schema.Check(WEATHER as never, JSON.parse(textOf(await ask(name, { output }))))).toBe(true);
    const short = await ask(name, { maxOutputTokens: 16 });
    expect([short.choices[0]?.finish?.reason, short.usage?.output]).toEqual(['length', 16]);
    const refused = await ask(name, {}, '[[refuse]]');
    expect(['refusal', 'content-filter', 'stop']).toContain(refused.choices[0]?.finish?.reason ?? '');
    expect(textOf(refused, 'refusal') + textOf(refused)).toContain('refuses');
  });

  test('reasoning has a signature if the format supports it, and the signature can be sent back', async () => {
    const reasoning = { effort: 'high' as const, summary: 'auto' as const };
    const model = 'sandbox-reasoner';
    for (const stream of [false, true]) {
      const reply = await ask(name, { model, reasoning, stream });
      expect(textOf(reply, 'reasoning')).toContain('I am a sandbox');
      expect(reply.usage?.reasoning).toBeGreaterThan(0);
      const signed = reply.choices[0]?.parts.find(({ signature }) => signature);
      if (name === 'openai-chat') {
        expect(signed).toBeUndefined();
        continue;
      }
      expect(signed?.signature?.dialect).toBe(name);
      const messages: ChatCall['messages'] = [
        { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          parts: [
            {
              type: 'reasoning',
              text: signed?.content ?? '',
              ...(signed?.signature && { signature: signed.signature }),
            },
            { type: 'text', text: 'Hi.' },
          ],
        },
        { role: 'user', parts: [{ type: 'text', text: 'Again' }] },
      ];
      expect(textOf(await ask(name, { model, reasoning, messages }))).toContain('1 came back with their signatures');
    }
  });

  test('an image in the prompt is recognised', async () => {
    const base64 = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const parts: Part[] = [
      { type: 'text', text: 'Look' },
      { type: 'media', media: { kind: 'image', source: { type: 'inline', base64 }, mimeType: 'image/png' } },
    ];
    expect(textOf(await ask(name, { messages: [{ role: 'user', parts }] }))).toContain(
      'an image (image/png, 70 bytes, 1x1)',
    );
  });

  test('failures have the format’s own errors', async () => {
    const call = chatCall({
      model: 'sandbox-chat',
      messages: [{ role: 'user', parts: [{ type: 'text', text: '[[fail 429]]' }] }],
    });
    const response = await send(formatNamed(name), call);
    expect(response.status).toBe(429);
    const error = formatNamed(name).readError(429, response.headers, new Uint8Array(await response.arrayBuffer()));
    expect([error.code, error.retryAfterSeconds]).toEqual(['rate_limited', 1]);
  });
});

test.each(['openai-chat', 'gemini'])('%s: speech with its transcript', async (name) => {
  for (const stream of [false, true]) {
    const audio = { voice: 'alloy', format: name === 'gemini' ? 'pcm16' : 'wav' };
    const reply = await ask(name, { stream, audio, modalities: ['text', 'audio'] });
    const [spoken] = partsOf(reply, 'audio');
    const bytes = Buffer.from(spoken?.content ?? '', 'base64');
    expect(bytes.length).toBeGreaterThan(10_000);
    if (name === 'openai-chat') {
      expect(bytes.subarray(0, 4).toString()).toBe('RIFF');
      expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
      expect(spoken?.transcript).toContain('"Hello there"');
    }
    expect(reply.usage?.audioOutput).toBeGreaterThan(5);
  }
});

test('an image of the requested size', async () => {
  const reply = await ask('gemini', {
    model: 'sandbox-image',
    modalities: ['image'],
    image: { aspectRatio: '16:9', size: '1K' },
  });
  const [image] = partsOf(reply, 'image');
  expect(image?.opens).toEqual({ type: 'image', mimeType: 'image/png' });
  expect(pngSize(Buffer.from(image?.content ?? '', 'base64'))).toEqual({ width: 1376, height: 768 });
});
