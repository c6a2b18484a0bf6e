import { expect, test } from 'bun:test';
import { imageCall } from '../../../../test/helpers/image-call.ts';
import { createReader } from './read-reply.ts';

function usageOf(words: object): object[] {
  const reader = createReader(imageCall(), 'application/json');
  const body = { created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }], ...words };
  const frames = [...reader.read(Buffer.from(JSON.stringify(body))), ...reader.end()];
  return frames.flatMap(({ events }) => events.flatMap((event) => (event.type === 'usage' ? [event.usage] : [])));
}

test('the size and quality of an image are those that the provider reports', () => {
  expect(usageOf({ size: '1536x1024', quality: 'high' })).toMatchObject([{ size: '1536x1024', quality: 'high' }]);
});

test('a text that is far too long for one is not stored with the call', () => {
  const [usage] = usageOf({ size: 'x'.repeat(65), quality: 'x'.repeat(1_000_000) });
  expect(usage).toEqual({ input: 0, output: 0, images: 1, source: 'reported' });
});
