import { expect, test } from 'bun:test';
import { mediaTypeOf } from './media-type.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

test.each([
  ['image', '\x89PNG\r\n\x1a\n…', 'text/plain', 'image/png'],
  ['image', '\xff\xd8\xff\xe0', '', 'image/jpeg'],
  ['image', 'RIFF\0\0\0\0WEBPVP8 ', 'image/png', 'image/webp'],
  ['image', 'RIFF\0\0\0\0WAVEfmt ', 'image/png', undefined],
  ['audio', 'RIFF\0\0\0\0WAVEfmt ', '', 'audio/wav'],
  ['image', '<!doctype html>', 'image/png', undefined],
  ['image', '%PDF-1.7', 'image/png', undefined],
  ['document', '%PDF-1.7', 'text/html', 'application/pdf'],
  ['document', '\x89PNG\r\n\x1a\n', 'application/pdf', undefined],
  ['document', 'a,b\n1,2', 'text/csv', 'text/csv'],
  ['document', 'a,b\n1,2', 'application/octet-stream', 'text/plain'],
  ['document', '{"a":1}', 'application/json', 'application/json'],
  ['document', ' <HTML>not found', 'text/plain', undefined],
  ['document', '\xff\xfe\0a', 'text/plain', undefined],
  ['video', '\0\0\0\x18ftypmp42', '', 'video/mp4'],
  ['image', '', 'image/png', undefined],
] as const)('as %s: %j with content type %j is %s', (kind, begins, contentType, type) => {
  expect(mediaTypeOf(kind, bytes(begins), contentType)).toBe(type);
});
