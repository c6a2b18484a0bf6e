/** Errors as providers write them, and how they are classified. */
import { describe, expect, test } from 'bun:test';
import { readErrorObject, readOpenaiError } from './openai-errors.ts';

const read = (status: number, body: unknown, headers: { [name: string]: string } = {}) =>
  readOpenaiError(
    status,
    new Headers(headers),
    new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
  );

describe('readOpenaiError', () => {
  test.each([
    [
      {
        error: {
          message: 'Too long.',
          type: 'invalid_request_error',
          param: 'messages',
          code: 'context_length_exceeded',
        },
      },
      'Too long.',
    ],
    [{ error: 'Too long.', code: 'bad request of some kind' }, 'Too long.'],
    [{ detail: 'Too long.' }, 'Too long.'],
    [{ detail: [{ loc: ['body', 'messages', 0, 'content'], msg: 'Too long.', type: 'value_error' }] }, 'Too long.'],
    [{ message: 'Too long.', type: 'x', code: '1' }, 'Too long.'],
    [[{ error: { code: 400, message: 'Too long.', status: 'INVALID_ARGUMENT' } }], 'Too long.'],
    ['<html><body>Bad Request</body></html>', 'The model refused the request.'],
    ['', 'The model refused the request.'],
  ])('the request was refused: %j', (body, message) => {
    for (const status of [400, 404, 413, 422]) {
      expect(read(status, body)).toMatchObject({ code: 'upstream_refused', status, retryable: false, message });
    }
  });

  test("passes the provider's message on", () => {
    const error = {
      message: 'No.',
      type: 'invalid_request_error',
      param: 'messages[0].role',
      code: 'unsupported_value',
    };
    expect(read(400, { error })).toMatchObject({
      providerErrorType: error.type,
      providerCode: error.code,
      param: error.param,
    });
    const detail = [{ loc: ['body', 'messages', 0, 'content'], msg: 'Wrong.' }];
    expect(read(422, { detail }).param).toBe('messages[0].content');
    expect(read(400, { error: { message: 'No.', code: 400 } }).providerCode).toBeUndefined();
  });

  test.each([
    [401, { error: { message: 'Incorrect API key provided: sk-abcdefghijkl.' } }],
    [402, { error: { message: 'Insufficient Balance' } }],
    [403, { error: { message: 'org-0123456789 may not.' } }],
    [
      400,
      {
        code: 'Client specified an invalid argument',
        error: 'Incorrect API key provided: xa***. Get one at https://console.x.ai.',
      },
    ],
    [
      429,
      { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } },
    ],
  ])("is the operator's error: %d %j", (status, body) => {
    const error = read(status, body);
    expect(error).toMatchObject({ code: 'upstream_failed', status: 502, retryable: true });
    expect(error.message).not.toMatch(/key|org|quota|balance/i);
  });

  test.each([
    [408, 'upstream_timeout'],
    [409, 'upstream_failed'],
    [429, 'rate_limited'],
    [500, 'upstream_failed'],
    [502, 'upstream_failed'],
    [503, 'upstream_failed'],
    [504, 'upstream_timeout'],
    [529, 'upstream_unavailable'],
    [405, 'upstream_failed'],
  ])('another target may succeed: %d', (status, code) => {
    expect(read(status, 'upstream connect error')).toMatchObject({ code, retryable: true });
  });

  test.each([
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 2],
    [{ 'retry-after': '7' }, 7],
    [{ 'retry-after': '0.4' }, 1],
    [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' }, 30],
    [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('reads the retry time from %j', (headers, seconds) => {
    expect(read(429, '', headers).retryAfterSeconds).toBe(seconds);
  });

  test('hides keys, accounts and URLs, but not file names', () => {
    const message =
      'Key sk-proj-abcdefgh123 of org-AbCdEf123456: see https://platform.example.com/account. Cannot load https://a.example/cat.png?x=1';
    expect(read(400, { error: { message } }).message).toBe(
      'Key [key] of [account]: see [link] Cannot load https://a.example/cat.png?x=1',
    );
  });
});

test('an error inside a reply uses the status it names', () => {
  expect(readErrorObject({ code: 429, message: 'slow down' })).toMatchObject({ code: 'rate_limited' });
  expect(readErrorObject({ message: 'no', code: 'tool_use_failed', status_code: 400 })).toMatchObject({
    code: 'upstream_refused',
    providerCode: 'tool_use_failed',
  });
  expect(readErrorObject('boom')).toMatchObject({ code: 'upstream_failed' });
});

test("a cloud's project names are hidden", () => {
  const message =
    'Publisher Model `projects/my-secret-project/locations/global/publishers/google/models/x` was not found.';
  const body = new TextEncoder().encode(JSON.stringify({ error: { code: 404, message, status: 'NOT_FOUND' } }));
  expect(readOpenaiError(404, new Headers(), body).message).toBe(
    'Publisher Model `projects/[project]/locations/global/publishers/google/models/x` was not found.',
  );
});
