import { expect, test } from 'bun:test';
import { type ErrorCode, type ErrorDetail, GatewayError } from '../canonical/errors.ts';
import { fallbackReason } from './fallback-reason.ts';

const reasonOf = (message: string, detail: ErrorDetail = {}, code: ErrorCode = 'upstream_refused') =>
  fallbackReason(new GatewayError(code, message, detail));

test.each([
  ['OpenAI', 'Too long.', { providerCode: 'context_length_exceeded' }],
  ['llama.cpp', 'Too long.', { providerErrorType: 'exceed_context_size_error' }],
  ['Perplexity', 'The total length of all messages is too long.', { providerErrorType: 'too_many_prompt_tokens' }],
  ['Anthropic', 'prompt is too long: 210000 tokens > 200000 maximum', {}],
  ['Google', 'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).', {}],
  ['Bedrock', 'Input is too long for requested model.', {}],
  ['Nova', 'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input.', {}],
  ['vLLM', "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.", {}],
  ['Mistral', 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length', {}],
  ['Cohere', 'too many tokens: total number of tokens in the prompt cannot exceed 4081', {}],
  ['xAI', "This model's maximum prompt length is 131072 but the request contains 200000 tokens.", {}],
  ['Ollama', 'prompt too long; exceeded max context length by 1119046 tokens', {}],
])('%s: the context is too long', (_, message, detail) => {
  expect(reasonOf(message, detail)).toBe('context_length');
});

test.each([
  ['Azure', "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", {}],
  ['OpenAI', 'Your request was rejected.', { providerCode: 'content_policy_violation' }],
  ['Alibaba', 'Input data may contain inappropriate content.', { providerCode: 'data_inspection_failed' }],
  ['Anthropic', 'Output blocked by content filtering policy', {}],
])('%s: the filter refused', (_, message, detail) => {
  expect(reasonOf(message, detail)).toBe('content_filter');
});

test('what may succeed elsewhere is unavailable; so is a model that its provider no longer has', () => {
  for (const code of ['upstream_failed', 'upstream_unavailable', 'upstream_timeout', 'rate_limited'] as const)
    expect(reasonOf('No.', {}, code)).toBe('unavailable');
  expect(reasonOf('The model `x` does not exist.', { status: 404 })).toBe('unavailable');
});

test('an invalid request, and one that may have been executed already, have no fallback', () => {
  expect(reasonOf('temperature must be below 2', { param: 'temperature' })).toBeUndefined();
  expect(reasonOf('max_tokens is too large: 99999', { param: 'max_tokens' })).toBeUndefined();
  expect(reasonOf('No.', { inDoubt: true }, 'upstream_timeout')).toBeUndefined();
  expect(reasonOf('No.', { billed: true }, 'upstream_failed')).toBeUndefined();
  expect(reasonOf('Lossy.', {}, 'lossy_translation')).toBeUndefined();
});
