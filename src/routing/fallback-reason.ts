/** Why another model may answer where one failed. Pure: providers say it in codes and sentences of their own. */
import type { FallbackReason, GatewayError } from '../canonical/errors.ts';

/** Codes of OpenAI and Azure, llama.cpp and Perplexity, and of others who copied them. */
const LENGTH_CODE =
  /^(context_length_exceeded|exceed_context_size_error|string_above_max_length|too_many_prompt_tokens)$/;
const FILTER_CODE =
  /^(content_filter|content_policy_violation|content_policy|moderation_blocked|data_inspection_failed|sensitive_content_detected)$/;
/**
 * Sentences of those who have no code for it: Anthropic ("prompt is too long: 210000 tokens > 200000 maximum"), Google ("The input token
 * count (1250074) exceeds the maximum number of tokens allowed"), Bedrock ("Input is too long for requested model", "Number of input tokens
 * exceeds maximum length"), vLLM and Mistral ("maximum context length"), Cohere ("too many tokens"), xAI ("maximum prompt length").
 */
const LENGTH_SENTENCES: readonly RegExp[] = [
  /context (?:length|window|size)/i,
  /max(?:imum)? (?:context|prompt|input) length/i,
  /\b(?:prompt|input|request|messages?)(?: is| are)? too (?:long|large)/i,
  /\btokens?\b.{0,40}\bexceeds?\b.{0,40}\b(?:maximum|limit)/i,
  /\btoo many (?:input |prompt |total )?tokens\b/i,
  /reduce the length of (?:the|your) (?:messages|prompt|input)/i,
];
const FILTER_SENTENCES: readonly RegExp[] = [
  /content (?:management |usage )?(?:policy|filter)/i,
  /content filtering policy/i,
  /blocked by .{0,40}(?:safety|filter)/i,
  /safety (?:system|filter)/i,
];

/** `undefined`: another model would fail as well, or the request may have been executed. */
export function fallbackReason(error: GatewayError): FallbackReason | undefined {
  if (error.inDoubt || error.billed) return undefined;
  if (isRefusal(error)) {
    const { providerCode = '', providerErrorType = '', message } = error;
    if (LENGTH_CODE.test(providerCode) || LENGTH_CODE.test(providerErrorType)) return 'context_length';
    if (FILTER_CODE.test(providerCode) || FILTER_CODE.test(providerErrorType)) return 'content_filter';
    if (FILTER_SENTENCES.some((one) => one.test(message))) return 'content_filter';
    if (LENGTH_SENTENCES.some((one) => one.test(message))) return 'context_length';
  }
  // The provider no longer has the model.
  if (error.code === 'upstream_refused' && error.status === 404) return 'unavailable';
  return error.retryable && error.code !== 'invalid_request' ? 'unavailable' : undefined;
}

/** Of the request itself. */
function isRefusal({ code, status }: GatewayError): boolean {
  return code === 'upstream_refused' || (status >= 400 && status < 500 && status !== 401 && status !== 429);
}
