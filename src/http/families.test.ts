import { expect, test } from 'bun:test';
import { anthropicError, googleError, openaiError } from '../dialects/shared/error-bodies.ts';
import { errorWriterFor } from './families.ts';

test.each([
  ['POST', '/v1/chat/completions', openaiError],
  ['GET', '/v1/models', openaiError],
  ['GET', '/v1/models/llama3:8b', openaiError],
  ['GET', '/v1/models/llama3:latest', openaiError],
  ['DELETE', '/v1/models/gpt-4o', openaiError],
  ['POST', '/v1/messages', anthropicError],
  ['HEAD', '/v1/messages/count_tokens', anthropicError],
  ['POST', '/v1beta/models/a/b:generateContent', googleError],
  ['GET', '/v1beta/nothing', googleError],
  ['POST', '/v1/models/a:generateContent', googleError],
  ['POST', '/v1/models/a', googleError],
  ['GET', '/v1/models/a:streamGenerateContent/', googleError],
])('%s %s', (method, path, writer) => {
  expect(errorWriterFor(method, path)).toBe(writer);
});
