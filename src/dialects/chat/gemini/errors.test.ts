import { expect, test } from 'bun:test';
import { gemini } from './gemini.ts';

function read(status: number, error: object, headers = {}) {
  return gemini.readError(status, new Headers(headers), new TextEncoder().encode(JSON.stringify({ error })));
}
const reason = (word: string) => [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: word }];

test("a wrong key is the gateway's error, whatever the status is", () => {
  const error = read(400, {
    code: 400,
    message: 'Key problem.',
    status: 'INVALID_ARGUMENT',
    details: reason('API_KEY_INVALID'),
  });
  expect(error).toMatchObject({ code: 'upstream_failed', retryable: true });
  expect(error.message).not.toContain('Key problem');
  const message = 'User location is not supported for the API use.';
  expect(read(400, { code: 400, message, status: 'FAILED_PRECONDITION' }).code).toBe('upstream_failed');
});

test('a rate limit has its retry time', () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }];
  const error = { code: 429, message: 'You exceeded your current quota.', status: 'RESOURCE_EXHAUSTED', details };
  expect(read(429, error)).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 35, retryable: true });
});

test('a refusal keeps its message', () => {
  const error = read(400, {
    code: 400,
    message: 'The input token count exceeds the maximum.',
    status: 'INVALID_ARGUMENT',
  });
  expect(error).toMatchObject({
    code: 'upstream_refused',
    status: 400,
    retryable: false,
    providerCode: 'INVALID_ARGUMENT',
    message: 'The input token count exceeds the maximum.',
  });
  expect(read(404, { code: 404, message: 'No such model.', status: 'NOT_FOUND' })).toMatchObject({
    code: 'upstream_refused',
    status: 404,
  });
});

test('an array around the error, and a body that is not JSON, are read', () => {
  const body = new TextEncoder().encode('[{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}]');
  expect(gemini.readError(503, new Headers(), body).retryable).toBe(true);
  expect(gemini.readError(500, new Headers(), new TextEncoder().encode('<html>')).code).toBe('upstream_failed');
});
