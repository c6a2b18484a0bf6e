/** Text completions in OpenAI's format: whole, and as the chunks of a stream. */
import type { JsonObject } from '../canonical/json.ts';
import type { Answer } from './answer.ts';
import type { CompletionAsked } from './asked.ts';
import { tokensOf } from './tokens.ts';

/** `answers` are flat: those of the first prompt, then those of the second. */
export function wholeCompletion(asked: CompletionAsked, answers: readonly Answer[], created: number): JsonObject {
  return {
    ...headOf(asked, created),
    choices: answers.map((answer, index) => choiceOf(asked, index, spokenOf(asked, answer, index), answer.finish)),
    usage: usageOf(asked, answers),
  };
}

/** The chunks in order, a token each; several choices take turns. */
export function* completionChunks(
  asked: CompletionAsked,
  answers: readonly Answer[],
  created: number,
): Generator<JsonObject> {
  const head = headOf(asked, created);
  const chunk = (choices: JsonObject[], usage: JsonObject | null): JsonObject =>
    asked.includeUsage ? { ...head, choices, usage } : { ...head, choices };
  const spoken = answers.map((answer, index) => spokenOf(asked, answer, index));
  const longest = Math.max(...spoken.map((tokens) => tokens.length));
  for (let at = 0; at <= longest; at++) {
    for (const [index, tokens] of spoken.entries()) {
      if (at > tokens.length) continue;
      const finish = at === tokens.length ? (answers[index]?.finish ?? 'stop') : null;
      yield chunk([choiceOf(asked, index, tokens.slice(at, at + 1), finish)], null);
    }
  }
  if (asked.includeUsage) yield chunk([], usageOf(asked, answers));
}

function spokenOf(asked: CompletionAsked, answer: Answer, index: number): string[] {
  const prompt = asked.prompts[Math.floor(index / asked.choices)];
  return asked.echo && prompt ? [prompt, ...answer.text] : answer.text;
}

function choiceOf(asked: CompletionAsked, index: number, tokens: readonly string[], finish: string | null): JsonObject {
  return { text: tokens.join(''), index, logprobs: asked.logprobs ? logprobsOf(tokens) : null, finish_reason: finish };
}

function logprobsOf(tokens: readonly string[]): JsonObject {
  let offset = 0;
  const offsets = tokens.map((token) => {
    offset += token.length;
    return offset - token.length;
  });
  return {
    tokens: [...tokens],
    token_logprobs: tokens.map(() => 0),
    top_logprobs: tokens.map((token) => ({ [token]: 0 })),
    text_offset: offsets,
  };
}

function headOf(asked: CompletionAsked, created: number): JsonObject {
  return {
    id: `cmpl-${asked.key}`,
    object: 'text_completion',
    created,
    model: asked.model,
    system_fingerprint: 'fp_sandbox',
  };
}

function usageOf(asked: CompletionAsked, answers: readonly Answer[]): JsonObject {
  const prompt = tokensOf(asked.prompts.join('\n')).length;
  const completion = answers.reduce((sum, answer) => sum + answer.text.length, 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}
