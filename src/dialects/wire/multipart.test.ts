import { describe, expect, test } from 'bun:test';
import { formBytes } from '../../../test/helpers/form-bytes.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { gathered } from '../../canonical/upload.ts';
import { type FormPart, formBoundary, formIn, readForm, streamForm } from './multipart.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('forms', () => {
  const parts: FormPart[] = [
    { name: 'prompt', bytes: bytes('A cat\r\nin a hat') },
    {
      name: 'image[]',
      filename: 'a.png',
      contentType: 'image/png',
      bytes: new Uint8Array([0, 13, 10, 13, 10, 45, 45, 255]),
    },
    { name: 'empty', bytes: new Uint8Array() },
  ];

  test('that are written can be read', () => {
    const read = readForm(formBytes(parts, 'a-boundary'), 'a-boundary');
    const plain = (list: FormPart[]) => list.map((part) => ({ ...part, bytes: [...part.bytes] }));
    expect(plain(read)).toEqual(plain(parts));
  });

  test('that the platform writes can be read', async () => {
    const form = new FormData();
    form.set('prompt', 'Grüße "x"');
    form.set('image', new Blob(['\r\n--'], { type: 'image/png' }), 'a "b".png');
    const request = new Request('http://x.test', { method: 'POST', body: form });
    const boundary = formBoundary(request.headers.get('content-type')) ?? '';
    const read = readForm(await request.bytes(), boundary);
    expect(read.map(({ name, bytes: held }) => [name, Buffer.from(held).toString()])).toEqual([
      ['prompt', 'Grüße "x"'],
      ['image', '\r\n--'],
    ]);
    expect(read[1]?.contentType).toBe('image/png');
  });

  test('that are written can be read by the platform', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b-1' };
    const form = await new Response(await gathered(streamForm(formIn(formBytes(parts, 'a'), 'a'), 'b-1')), {
      headers,
    }).formData();
    expect(form.get('prompt')).toBe('A cat\r\nin a hat');
    expect((form.get('image[]') as File).name).toBe('a.png');
  });

  test('cut anywhere are refused, without a crash', () => {
    const whole = formBytes(parts, 'b');
    for (let end = 0; end < whole.length - 3; end++)
      expect(() => readForm(whole.subarray(0, end), 'b')).toThrow(GatewayError);
  });

  test.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data; charset=utf-8; boundary="a b"', 'a b'],
    ['multipart/form-data', undefined],
    ['application/json', undefined],
    [null, undefined],
  ])('%p has the boundary %p', (contentType, boundary) => {
    expect(formBoundary(contentType)).toBe(boundary);
  });
});
