import { expect, test } from 'bun:test';
import { shapeOfBody } from './body-shape.ts';

test('texts and numbers do not change a shape', () => {
  expect(shapeOfBody('{"text":"Hello","size":3}')).toBe('{text:text,size:number}');
  expect(shapeOfBody('{"text":"Bye","size":-1}')).toBe('{text:text,size:number}');
});

test.each([
  ['an empty text', '{"text":""}', '{"text":"a"}'],
  ['null', '{"text":null}', '{"text":"a"}'],
  ['the name of a type', '{"type":"a"}', '{"type":"b"}'],
  ['a member', '{"a":1}', '{"a":1,"b":1}'],
  ['the order of members', '{"a":1,"b":1}', '{"b":1,"a":1}'],
  ['the elements of an array', '[1,"a"]', '["a",1]'],
  ['what an array does not repeat', '[1,1]', '[1,1,{}]'],
  ['an event', 'data: {"a":1}\n\n', 'data: {"a":1}\n\ndata: {"b":1}\n\n'],
  ['the end of a stream', 'data: {"a":1}\n\n', 'data: {"a":1}\n\ndata: [DONE]\n\n'],
  ['the name of an event', 'event: a\ndata: {}\n\n', 'event: b\ndata: {}\n\n'],
])('%s changes it', (_, one, other) => {
  expect(shapeOfBody(one)).not.toBe(shapeOfBody(other));
});

test('repeated events count once', () => {
  const event = (text: string) => `event: delta\ndata: {"text":"${text}"}\n\n`;
  expect(shapeOfBody(event('a') + event('b') + event('c'))).toBe(shapeOfBody(event('x')));
});
