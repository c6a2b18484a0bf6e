import { describe, expect, test } from 'bun:test';
import { formBytes } from '../../../test/helpers/form-bytes.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { gathered, uploadOf } from '../../canonical/upload.ts';
import { createFormCutter } from './form-cutter.ts';
import { formIn, formType, readForm, streamForm } from './multipart.ts';

const BOUNDARY = 'b-1';
const WHOLE = formBytes(
  [
    { name: 'model', bytes: Buffer.from('m') },
    { name: 'empty', bytes: new Uint8Array() },
    { name: 'file', filename: 'a.wav', contentType: 'audio/wav', bytes: Buffer.from('\r\n--b-\r\n\r\n--b-2\r\n\r') },
    { name: 'last', bytes: Buffer.from('x') },
  ],
  BOUNDARY,
);

/** The parts as names and bytes. */
function parts(pieces: readonly Uint8Array[]): [string, string][] {
  const cutter = createFormCutter(BOUNDARY);
  const found: [string, string][] = [];
  for (const piece of pieces) {
    for (const event of cutter.read(piece)) {
      if (event.type === 'part') found.push([event.head.name, '']);
      else found.at(-1)![1] += Buffer.from(event.bytes).toString('latin1');
    }
  }
  cutter.end();
  return found;
}

describe('a form that arrives', () => {
  const expected = parts([WHOLE]);

  test('is the same as the complete form', () => {
    expect(expected.map(([name]) => name)).toEqual(['model', 'empty', 'file', 'last']);
    expect(expected).toEqual(readForm(WHOLE, BOUNDARY).map(({ name, bytes }) => [name, Buffer.from(bytes).toString()]));
  });

  test('split at any two places gives the same parts', () => {
    for (let first = 0; first <= WHOLE.length; first += 3)
      for (let second = first; second <= WHOLE.length; second += 23)
        expect(parts([WHOLE.subarray(0, first), WHOLE.subarray(first, second), WHOLE.subarray(second)])).toEqual(
          expected,
        );
  });

  test('also byte by byte', () => {
    expect(parts(Array.from(WHOLE, (_, at) => WHOLE.subarray(at, at + 1)))).toEqual(expected);
  });

  test('broken off anywhere before its end is refused', () => {
    for (let end = 0; end < WHOLE.length - 2; end++)
      expect(() => parts([WHOLE.subarray(0, end)])).toThrow(GatewayError);
  });

  test('copies no part, and refuses parts without a name, endless headers and too many parts', () => {
    const file = readForm(WHOLE, BOUNDARY)[2];
    expect(file?.bytes.buffer).toBe(WHOLE.buffer);
    expect(() => parts([Buffer.from('--b-1\r\n\r\nx\r\n--b-1--')])).toThrow('without a name');
    expect(() => parts([Buffer.from(`--b-1\r\nx: ${'y'.repeat(20_000)}`)])).toThrow('headers do not end');
    const many = Array.from({ length: 201 }, () => ({ name: 'a', bytes: new Uint8Array() }));
    expect(() => parts([formBytes(many, BOUNDARY)])).toThrow('more than 200');
  });
});

test('a form written as a stream is the form; quoted words cannot end early', async () => {
  const form = formIn(WHOLE, BOUNDARY);
  const stream = streamForm(form, 'b 2');
  const pieces: Uint8Array[] = [];
  for await (const piece of stream.open()) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  expect(bytes.length).toBe(stream.size);
  expect(formType('b 2')).toEndWith('boundary="b 2"');
  const again = formIn(bytes, 'b 2');
  expect(again.fields).toEqual(form.fields);
  expect(again.files[0]?.upload.head).toEqual(form.files[0]!.upload.head);
});

test('no word ends its quotes, and no type its line', async () => {
  const contentType = 'image/png\r\ncontent-disposition: form-data; name="model"';
  const file = { name: 'a"; name="model', filename: 'x\r\n\r\n', contentType, upload: uploadOf(Buffer.from('1')) };
  const sly = await gathered(streamForm({ fields: [], files: [file] }, BOUNDARY));
  expect(Buffer.from(sly).toString()).toContain('name="a_; name=_model"');
  expect(readForm(sly, BOUNDARY)).toMatchObject([{ name: 'a_; name=_model', filename: 'x____' }]);
  expect(Buffer.from(sly).toString().split('\r\n')).toHaveLength(7);
});
