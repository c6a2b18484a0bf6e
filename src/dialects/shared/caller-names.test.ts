import { expect, test } from 'bun:test';
import { GatewayError } from '../../canonical/errors.ts';
import { errorInCallerNames, inCallerNames } from './caller-names.ts';

test("a warning uses the caller's member names", () => {
  const sentence = '`top_k` was dropped, `user` too, `a_b` stays.';
  expect(inCallerNames(sentence, 'gemini')).toBe('`generationConfig.topK` was dropped, `user` too, `a_b` stays.');
  expect(inCallerNames(sentence, 'anthropic-messages')).toBe(
    '`top_k` was dropped, `metadata.user_id` too, `a_b` stays.',
  );
  expect(inCallerNames(sentence, 'openai-chat')).toBe(sentence);
});

test('so does an error, whose other properties stay', () => {
  const detail = { param: 'messages[0].content', providerCode: 'c', retryAfterSeconds: 3, cause: { status: 400 } };
  const error = new GatewayError('upstream_refused', '`messages` is wrong.', { ...detail, status: 422 });
  expect(errorInCallerNames(error, 'gemini')).toMatchObject({
    ...detail,
    code: 'upstream_refused',
    status: 422,
    message: '`contents` is wrong.',
    param: 'contents[0].content',
  });
  expect(errorInCallerNames(error, 'openai-chat')).toBe(error);
});

test.each([
  ['openai-chat', 'input[1].content[0].image_url', 'messages[1].content[0].image_url'],
  ['openai-chat', 'max_output_tokens', 'max_tokens'],
  ['openai-chat', 'text.format.schema', 'response_format.schema'],
  ['openai-responses', 'max_completion_tokens', 'max_output_tokens'],
  ['openai-responses', 'input', 'input'],
  ['openai-responses', 'response_format', 'text.format'],
  ['openai-responses', 'inputs', 'inputs'],
  ['anthropic-messages', 'max_completion_tokens', 'max_tokens'],
  ['anthropic-messages', 'input', 'messages'],
  ['gemini', 'reasoning.effort', 'generationConfig.thinkingConfig'],
  ['gemini', 'input', 'contents'],
])("%s: a provider's `%s` is the caller's `%s`", (dialect, param, own) => {
  const error = new GatewayError('upstream_refused', 'No.', { param, status: 400 });
  expect((errorInCallerNames(error, dialect) as GatewayError).param).toStartWith(own);
});

test("a provider's own quotes around the member it refuses do not hide it, and its other words stay", () => {
  const message = "Invalid 'max_output_tokens': expected at least 16. \"max_output_tokens\" and 'user' are wrong.";
  const error = new GatewayError('upstream_refused', message, { param: 'max_output_tokens', status: 400 });
  expect((errorInCallerNames(error, 'anthropic-messages') as GatewayError).message).toBe(
    "Invalid 'max_tokens': expected at least 16. \"max_tokens\" and 'user' are wrong.",
  );
  expect((errorInCallerNames(error, 'gemini') as GatewayError).message).toContain("'generationConfig.maxOutputTokens'");
});
