/** Chat answers in OpenAI's format: whole, and as the chunks of a stream. */
import type { JsonObject } from '../canonical/json.ts';
import { type Answer, type AnswerCall, countTokens } from './answer.ts';
import type { ChatAsked } from './asked.ts';
import { tokensOf } from './tokens.ts';

export function wholeChat(asked: ChatAsked, answers: readonly Answer[], created: number): JsonObject {
  return {
    ...headOf(asked, created, 'chat.completion'),
    choices: answers.map((answer, index) => ({
      index,
      message: {
        role: 'assistant',
        content: answer.calls.length > 0 ? null : answer.text.join(''),
        refusal: null,
        annotations: [],
        ...(answer.reasoning.length > 0 && { reasoning_content: answer.reasoning.join('') }),
        ...(answer.calls.length > 0 && { tool_calls: answer.calls.map(wholeCall) }),
      },
      logprobs: asked.logprobs ? logprobsOf(answer.text) : null,
      finish_reason: answer.finish,
    })),
    usage: usageOf(asked, answers),
  };
}

/** The chunks in order, a token each; several choices take turns. */
export function* chatChunks(asked: ChatAsked, answers: readonly Answer[], created: number): Generator<JsonObject> {
  const head = headOf(asked, created, 'chat.completion.chunk');
  const chunk = (choices: JsonObject[], usage: JsonObject | null): JsonObject =>
    asked.includeUsage ? { ...head, choices, usage } : { ...head, choices };
  const running = answers.map((answer, index) => ({ index, deltas: deltasOf(answer) }));
  while (running.length > 0) {
    for (const one of [...running]) {
      const { value: delta, done } = one.deltas.next();
      if (done) running.splice(running.indexOf(one), 1);
      const logprobs =
        asked.logprobs && typeof delta?.content === 'string' && delta.content !== ''
          ? logprobsOf([delta.content])
          : null;
      const finish = done ? (answers[one.index]?.finish ?? 'stop') : null;
      yield chunk([{ index: one.index, delta: delta ?? {}, logprobs, finish_reason: finish }], null);
    }
  }
  if (asked.includeUsage) yield chunk([], usageOf(asked, answers));
}

function* deltasOf(answer: Answer): Generator<JsonObject, undefined> {
  yield { role: 'assistant', content: answer.calls.length > 0 ? null : '', refusal: null };
  for (const token of answer.reasoning) yield { reasoning_content: token };
  for (const token of answer.text) yield { content: token };
  for (const [index, call] of answer.calls.entries()) {
    yield { tool_calls: [{ index, ...wholeCall({ ...call, input: [] }) }] };
    for (const token of call.input) {
      yield {
        tool_calls: [call.custom ? { index, custom: { input: token } } : { index, function: { arguments: token } }],
      };
    }
  }
}

function wholeCall({ id, custom, name, input }: AnswerCall): JsonObject {
  const said = input.join('');
  return custom
    ? { id, type: 'custom', custom: { name, input: said } }
    : { id, type: 'function', function: { name, arguments: said } };
}

function headOf(asked: ChatAsked, created: number, object: string): JsonObject {
  return { id: `chatcmpl-${asked.key}`, object, created, model: asked.model, system_fingerprint: 'fp_sandbox' };
}

function logprobsOf(tokens: readonly string[]): JsonObject {
  const content = tokens.map((token) => ({ token, logprob: 0, bytes: [...Buffer.from(token)], top_logprobs: [] }));
  return { content, refusal: null };
}

function usageOf(asked: ChatAsked, answers: readonly Answer[]): JsonObject {
  const prompt = tokensOf(JSON.stringify(asked.messages)).length;
  const completion = answers.reduce((sum, answer) => sum + countTokens(answer), 0);
  const reasoning = answers.reduce((sum, answer) => sum + answer.reasoning.length, 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
