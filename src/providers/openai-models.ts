/** What OpenAI's models refuse, wherever they are hosted. */
import type { Quirks } from '../dialects/dialect.ts';

/** Sampling that a model which thinks takes at its default alone. */
const UNSAMPLED = {
  fixed: { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, logprobs: false },
  rejects: ['top_logprobs', 'logit_bias'],
} satisfies Quirks;

export const OPENAI_MODELS = [
  { match: '^(o\\d|gpt-([5-9]|\\d\\d)(?!.*-chat))', quirks: { renames: { max_tokens: 'max_completion_tokens' } } },
  // 5.1 to 5.5 do not think unless told to, and then take sampling: what they refuse depends on the request.
  { match: '^(o\\d|gpt-5(?!\\.[1-5])|gpt-([6-9]|\\d\\d))(?!.*-chat)', quirks: UNSAMPLED },
  { match: '^(o3(?!-mini)|o4|gpt-5(?!\\.[1-5])|gpt-([6-9]|\\d\\d))(?!.*-chat)', quirks: { rejects: ['stop'] } },
  {
    match: '-search-(preview|api)',
    quirks: { rejects: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'n'] },
  },
] satisfies Quirks['models'];

/** The models OpenAI serves as text completions: these and no others. */
export const OPENAI_COMPLETIONS_ONLY = {
  'openai-completions': /^(gpt-3\.?5-turbo-instruct|(ft:)?(davinci|babbage)-002)/,
  'openai-chat': /^(?!gpt-3\.?5-turbo-instruct|(ft:)?(davinci|babbage)-002)/,
};
