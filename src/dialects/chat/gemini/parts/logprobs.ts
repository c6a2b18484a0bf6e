/**
 * Log probabilities. This format has one list of chosen tokens and one of alternatives; `Call` has one list of tokens.
 */
import { isObject, type Json, type JsonObject } from '../../../../canonical/json.ts';

export function readLogprobs(result: Json | undefined): Json[] {
  if (!isObject(result) || !Array.isArray(result.chosenCandidates)) return [];
  const top = Array.isArray(result.topCandidates) ? result.topCandidates : [];
  return result.chosenCandidates.map((chosen, index) => {
    const others = top[index];
    const likely = isObject(others) && Array.isArray(others.candidates) ? others.candidates : [];
    return { ...tokenOf(chosen), top_logprobs: likely.map(tokenOf) };
  });
}

export function writeLogprobs(logprobs: readonly Json[]): JsonObject {
  const tokens = logprobs.filter(isObject);
  if (tokens.length === 0) return {};
  return {
    logprobsResult: {
      chosenCandidates: tokens.map(candidateOf),
      topCandidates: tokens.map(({ top_logprobs: top }) => ({
        candidates: Array.isArray(top) ? top.filter(isObject).map(candidateOf) : [],
      })),
    },
  };
}

function tokenOf(candidate: Json): JsonObject {
  const { token, logProbability } = isObject(candidate) ? candidate : {};
  const text = typeof token === 'string' ? token : '';
  return {
    token: text,
    logprob: typeof logProbability === 'number' ? logProbability : 0,
    bytes: [...Buffer.from(text)],
  };
}

function candidateOf({ token, logprob }: JsonObject): JsonObject {
  return { token: token ?? '', logProbability: logprob ?? 0 };
}
