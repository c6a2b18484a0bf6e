/** Fields beside an audio file: none makes a provider read another audio, another model or more than was priced. */
import { expect, test } from 'bun:test';
import { uploadOf } from '../../../canonical/upload.ts';
import { openaiTranscriptions } from '../../audio/openai-transcriptions/openai-transcriptions.ts';

const read = (fields: readonly (readonly [string, string])[]) =>
  openaiTranscriptions.readCall({
    body: new Uint8Array(),
    headers: new Headers({ 'content-type': 'multipart/form-data; boundary=x' }),
    path: { action: 'transcriptions' },
    query: new URLSearchParams(),
    form: {
      fields: [['model', 'm'], ...fields],
      files: [{ name: 'file', filename: 'a.mp3', upload: uploadOf(new Uint8Array(100)) }],
    },
  });

test.each([
  ['url', 'http://audios.invalid/ten-hours.mp3'],
  ['file_url', 'http://audios.invalid/ten-hours.mp3'],
  ['File_Id', 'file-1'],
  ['cloud_storage_url', 'http://audios.invalid/ten-hours.mp3'],
  ['Model', 'dearer'],
  ['models[]', 'dearer'],
  ['service_tier', 'priority'],
  ['n', '4'],
  ['batch_size', '8'],
  ['best_of', '5'],
  ['max_new_tokens', '100000'],
])('the field %p is dropped and reported', (name, value) => {
  const call = read([
    ['language', 'en'],
    [name, value],
  ]);
  expect(call.fields).toEqual([['language', 'en']]);
  expect(call.origin.dropped).toEqual([expect.stringContaining(`\`${name.replace('[]', '')}`)]);
});

test('a copy inside a JSON field is dropped, in each of several fields of one name', () => {
  const call = read([
    ['extra_body', '{"n":5,"hotwords":"a"}'],
    ['extra_body', '{"hotwords":"b"}'],
  ]);
  expect(call.fields).toEqual([
    ['extra_body', '{"hotwords":"a"}'],
    ['extra_body', '{"hotwords":"b"}'],
  ]);
  expect(call.origin.dropped).toEqual(['`extra_body.n` was dropped: the format has no such member.']);
});

test('all other fields pass unchanged, also several of one name', () => {
  const fields = [
    ['prompt', '{ not JSON'],
    ['timestamp_granularities[]', 'word'],
    ['timestamp_granularities[]', 'segment'],
    ['temperature', '0.2'],
  ] as const;
  const call = read(fields);
  expect(call.fields).toEqual(fields);
  expect(call.origin.dropped).toBeUndefined();
});
