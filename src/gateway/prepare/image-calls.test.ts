import { describe, expect, test } from 'bun:test';
import { CALL_DEFAULTS } from '../../../test/helpers/chat-call.ts';
import { imageCall } from '../../../test/helpers/image-call.ts';
import type { Call, ChatCall, Media, Part } from '../../canonical/call.ts';
import { asKind } from './change-kind.ts';

const DRAWING = imageCall();
const CHAT: ChatCall = { ...CALL_DEFAULTS, kind: 'chat', messages: [], tools: [], sampling: {}, wantsUsage: false };

const text = (value: string): Part => ({ type: 'text', text: value });
const media = (base64: string): Media => ({ kind: 'image', source: { type: 'inline', base64 }, mimeType: 'image/png' });
const image = (base64: string): Part => ({ type: 'media', media: media(base64) });

function as<K extends Call['kind']>(call: Call, kind: K) {
  const { call: made, losses } = asKind(call, kind) ?? { call, losses: [] };
  if (made.kind !== kind) throw new Error(`It became a call of kind ${made.kind}.`);
  return { made: made as Extract<Call, { kind: K }>, losses };
}

test('a call of the model’s kind is unchanged', () => {
  expect(asKind(CHAT, 'chat')).toBeUndefined();
  expect(asKind(DRAWING, 'image')).toBeUndefined();
});

describe('a request for images as a conversation', () => {
  test('has the prompt after its input images, and requests an image', () => {
    const { made, losses } = as({ ...DRAWING, images: [media('YQ==')], n: 2, seed: 7, negativePrompt: 'dogs' }, 'chat');
    expect(made.messages).toEqual([{ role: 'user', parts: [image('YQ=='), text('A cat\n\nAvoid: dogs')] }]);
    expect(made).toMatchObject({ modalities: ['text', 'image'], sampling: { n: 2, seed: 7 } });
    expect(losses).toEqual([]);
  });

  test('an aspect ratio that the model supports is no loss, pixels are one', () => {
    expect(as({ ...DRAWING, size: { aspectRatio: '16:9' } }, 'chat')).toMatchObject({
      made: { image: { aspectRatio: '16:9' } },
      losses: [],
    });
    const { made, losses } = as({ ...DRAWING, size: { pixels: { width: 1024, height: 1024 } } }, 'chat');
    expect(made.image?.aspectRatio).toBe('1:1');
    expect(losses.join(' ')).toContain('1024x1024');
  });

  test('what a conversation cannot express is reported by the names of the client’s members', () => {
    const { losses } = as({ ...DRAWING, quality: 'high', format: 'webp', compression: 50 }, 'chat');
    expect(losses).toHaveLength(3);
    for (const name of ['`quality`', '`output_format`', '`output_compression`'])
      expect(losses.join(' ')).toContain(name);
  });
});

describe('a conversation as a request for images', () => {
  test('its last turn is the prompt, after the instructions', () => {
    const { made, losses } = as(
      {
        ...CHAT,
        messages: [
          { role: 'system', parts: [text('In oil.')] },
          { role: 'user', parts: [text('A cat')] },
        ],
      },
      'image',
    );
    expect(made).toMatchObject({ prompt: 'In oil.\n\nA cat', images: [], edit: false, n: 1 });
    expect(losses).toEqual([]);
  });

  test('images of the last turn are edited, else the last one before it; earlier turns are a loss', () => {
    const earlier: ChatCall['messages'] = [
      { role: 'user', parts: [text('A cat')] },
      { role: 'assistant', parts: [image('b25l')] },
      { role: 'assistant', parts: [image('dHdv')] },
    ];
    const drawn = as({ ...CHAT, messages: [...earlier, { role: 'user', parts: [text('Blue')] }] }, 'image');
    expect(drawn.made).toMatchObject({ prompt: 'Blue', images: [media('dHdv')], edit: true });
    expect(drawn.losses).toHaveLength(1);
    const own = as({ ...CHAT, messages: [...earlier, { role: 'user', parts: [image('b3du')] }] }, 'image');
    expect(own.made.images).toEqual([media('b3du')]);
  });
});
