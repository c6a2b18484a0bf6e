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
