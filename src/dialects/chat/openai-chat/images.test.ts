import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import { waveHeader } from '../../wire/wave.ts';
import { openaiChat } from './openai-chat.ts';

const encode = (body: object) => new TextEncoder().encode(JSON.stringify(body));
const read = (more: object) => {
  const body = encode({ model: 'm', messages: [{ role: 'user', content: 'A cat' }], ...more });
  return openaiChat.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
};
const settings = { aspect_ratio: '16:9', image_size: '2K' };
const image = { aspectRatio: '16:9', size: '2K' };

describe('images requested in a chat', () => {
  test.each<[string, object]>([
    ['in extra_body', { extra_body: { google: { image_config: settings } } }],
    ['as the libraries lay it beside', { google: { image_config: settings } }],
    ['without the provider', { extra_body: { imageConfig: { aspectRatio: '16:9', imageSize: '2K' } } }],
    ['as OpenRouter has it', { image_config: settings }],
  ])('%s', (_, more) => {
    const call = read(more);
    expect(call.image).toEqual(image);
    expect(call.extras).toEqual({});
  });

  test('other members stay', () => {
    const call = read({ extra_body: { google: { image_config: settings, safety: 1 }, other: 2 } });
    expect(call.extras['openai-chat']).toEqual({ extra_body: { google: { safety: 1 }, other: 2 } });
  });

  test('contents join the conversation, except what it already has', () => {
    const parts = [
      { text: ' A cat ' },
      { inline_data: { mime_type: 'image/png', data: 'AAAA' } },
      { text: 'in a hat' },
    ];
    expect(
      read({
        contents: [
          { role: 'user', parts },
          { role: 'model', parts: ['Done'] },
        ],
      }).messages,
    ).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'A cat' }] },
      {
        role: 'user',
        parts: [
          {
            type: 'media',
            media: { kind: 'image', source: { type: 'inline', base64: 'AAAA' }, mimeType: 'image/png' },
          },
          { type: 'text', text: 'in a hat' },
        ],
      },
      { role: 'assistant', parts: [{ type: 'text', text: 'Done' }] },
    ]);
  });

  test.each<[object, string]>([
    [{ contents: [{ parts: [{ fileData: { fileUri: 'gs://x' } }] }] }, 'contents[0].parts[0].fileData'],
    [{ contents: [{ parts: 'x' }] }, 'contents[0].parts'],
    [{ contents: [{ parts: [{}] }] }, 'contents[0].parts[0]'],
    [{ google: { image_config: { aspect_ratio: 1 } } }, 'google.image_config.aspect_ratio'],
    [{ extra_body: { image_config: 'wide' } }, 'extra_body.image_config'],
  ])('%j is wrong at %s', (more, param) => {
    try {
      read(more);
      throw new Error('it was read');
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(GatewayError);
      expect((thrown as GatewayError).param).toBe(param);
    }
  });
});

const IMAGE = '![image](data:image/png;base64,iVBORw0KGgo=)';

test('an image that the model generated is read as an image, and sent back unchanged', () => {
  const call = read({
    messages: [
      { role: 'user', content: IMAGE },
      { role: 'assistant', content: `Here: ${IMAGE} Nice?` },
      { role: 'user', content: 'Bluer' },
    ],
  });
  expect(call.messages[0]?.parts).toEqual([{ type: 'text', text: IMAGE }]);
  expect(call.messages[1]?.parts).toEqual([
    { type: 'text', text: 'Here: ' },
    {
      type: 'media',
      media: { kind: 'image', source: { type: 'inline', base64: 'iVBORw0KGgo=' }, mimeType: 'image/png' },
    },
    { type: 'text', text: ' Nice?' },
  ]);
  const { body, warnings } = openaiChat.writeCall({ ...call, origin: { ...call.origin, dialect: 'gemini' } }, 'm', {});
  expect(JSON.parse(new TextDecoder().decode(body)).messages[1].content).toBe(`Here: ${IMAGE} Nice?`);
  expect(warnings).toEqual([]);
});

describe('samples of another format', () => {
  const SAMPLES = Buffer.from(Array.from({ length: 300 }, (_, index) => index % 251));
  const mimeType = 'audio/L16;codec=pcm;rate=16000';
  const events: ReplyEvent[] = [
    { type: 'reply-start', id: 'x', model: 'm' },
    { type: 'part-start', choice: 0, part: 0, opens: { type: 'audio', id: 'audio_1', mimeType } },
    { type: 'part-delta', choice: 0, part: 0, delta: SAMPLES.subarray(0, 150).toString('base64') },
    { type: 'part-delta', choice: 0, part: 0, delta: SAMPLES.subarray(150).toString('base64') },
    { type: 'part-end', choice: 0, part: 0 },
    { type: 'choice-end', choice: 0, finish: { reason: 'stop' } },
  ];
  const written = (stream: boolean, format: string) => {
    const writer = openaiChat.writer(chatCall({ stream, audio: { voice: 'alloy', format } }));
    const bytes = Buffer.concat([
      ...events.map((event) => writer.write({ bytes: new Uint8Array(), events: [event] })),
      writer.end(),
    ]).toString();
    if (!stream) return Buffer.from(JSON.parse(bytes).choices[0].message.audio.data, 'base64');
    const chunks = bytes.split('\n\n').filter((line) => line.startsWith('data: {'));
    const data = chunks.map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.audio?.data ?? '');
    return Buffer.from(data.join(''), 'base64');
  };

  test.each([false, true])('become a WAV if one was requested (stream: %p)', (stream) => {
    const wave = written(stream, 'wav');
    expect(wave.toString('latin1', 0, 4)).toBe('RIFF');
    expect(wave.readUInt32LE(24)).toBe(16_000);
    expect(wave.subarray(54)).toEqual(SAMPLES);
    expect(wave.readUInt32LE(50)).toBe(stream ? 0xffff_ffff : 300);
    expect(wave.readUInt32LE(4)).toBe(stream ? 0xffff_ffff : wave.length - 8);
  });

  test.each([false, true])('stay samples if those were requested (stream: %p)', (stream) => {
    expect(written(stream, 'pcm16')).toEqual(SAMPLES);
  });

  test("the header's base64 can precede theirs", () =>
    expect(waveHeader(mimeType).toString('base64')).not.toContain('='));
});

test("speech requested in another format is requested in this one's members", () => {
  const call = chatCall({ modalities: ['audio'], audio: { voice: 'Kore', format: 'pcm16' } });
  const { body, warnings } = openaiChat.writeCall(call, 'gpt-audio', {});
  expect(JSON.parse(new TextDecoder().decode(body))).toMatchObject({
    modalities: ['text', 'audio'],
    audio: { voice: 'alloy', format: 'pcm16' },
  });
  expect(warnings).toEqual(['The voice `Kore` belongs to another provider: `alloy` was used instead.']);
});
