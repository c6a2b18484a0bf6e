/** Members under the names that the caller's own format has for them: warnings and errors speak of a request in its own words. */
import { GatewayError } from '../canonical/errors.ts';

const OF_RESPONSES = {
  messages: 'input',
  max_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
  response_format: 'text.format',
  verbosity: 'text.verbosity',
};

/** By the name that this program's sentences use, which is OpenAI's; what is not listed has the same name, or none. */
const OWN_NAMES: { readonly [dialect: string]: { readonly [member: string]: string } } = {
  'openai-responses': OF_RESPONSES,
  'openai-responses-compact': OF_RESPONSES,
  'openai-completions': { messages: 'prompt' },
  'anthropic-messages': {
    user: 'metadata.user_id',
    stop: 'stop_sequences',
    instructions: 'system',
    reasoning_effort: 'thinking',
    response_format: 'output_config.format',
    parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  },
  gemini: {
    messages: 'contents',
    instructions: 'systemInstruction',
    temperature: 'generationConfig.temperature',
    top_p: 'generationConfig.topP',
    top_k: 'generationConfig.topK',
    n: 'generationConfig.candidateCount',
    stop: 'generationConfig.stopSequences',
    max_tokens: 'generationConfig.maxOutputTokens',
    presence_penalty: 'generationConfig.presencePenalty',
    frequency_penalty: 'generationConfig.frequencyPenalty',
    seed: 'generationConfig.seed',
    logprobs: 'generationConfig.responseLogprobs',
    top_logprobs: 'generationConfig.logprobs',
    response_format: 'generationConfig.responseJsonSchema',
    modalities: 'generationConfig.responseModalities',
    reasoning_effort: 'generationConfig.thinkingConfig',
    audio: 'generationConfig.speechConfig',
    tool_choice: 'toolConfig.functionCallingConfig',
    service_tier: 'serviceTier',
  },
};

const QUOTED = /`([a-z_]+)`/g;

/** The sentence, in which members stand in backticks, for a caller of this format. */
export function inCallersWords(sentence: string, dialect: string): string {
  const own = OWN_NAMES[dialect];
  return own ? sentence.replace(QUOTED, (quoted, name: string) => (own[name] ? `\`${own[name]}\`` : quoted)) : sentence;
}

/** The same of an error that was met on the way to a vendor of another format. */
export function errorInCallersWords(thrown: unknown, dialect: string): unknown {
  if (!(thrown instanceof GatewayError) || !(dialect in OWN_NAMES)) return thrown;
  const { param } = thrown;
  const [, first = '', rest = ''] = /^([a-z_]+)(.*)$/.exec(param ?? '') ?? [];
  const own = OWN_NAMES[dialect]?.[first];
  const message = inCallersWords(thrown.message, dialect);
  if (own === undefined && message === thrown.message) return thrown;
  return thrown.reworded(message, own === undefined ? param : own + rest);
}
