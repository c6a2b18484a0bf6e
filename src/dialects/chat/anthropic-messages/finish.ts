/** Maps finish reasons between this format and the canonical ones. */
import { entryOf } from '../../../canonical/entry-of.ts';
import { isObject } from '../../../canonical/json.ts';
import type { Finish, FinishReason } from '../../../canonical/reply.ts';

const REASONS: { readonly [word: string]: FinishReason } = {
  end_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  stop_sequence: 'stop-sequence',
  tool_use: 'tool-calls',
  pause_turn: 'pause',
  refusal: 'refusal',
};

const WORDS = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  refusal: 'refusal',
  pause: 'pause_turn',
  'broken-call': 'end_turn',
  other: 'end_turn',
} as const satisfies Record<FinishReason, string>;

export function readFinish(raw: string, stopSequence: unknown, details: unknown): Finish {
  const finish: Finish = { reason: entryOf(REASONS, raw) ?? 'other', raw };
  if (typeof stopSequence === 'string') finish.stopSequence = stopSequence;
  const explanation = isObject(details) ? details.explanation : undefined;
  if (typeof explanation === 'string') finish.explanation = explanation;
  return finish;
}

/** Tool calls and refusals in the reply decide where the provider's finish reason is less specific. */
function stopReason(finish: Finish | undefined, seen: { call: boolean; refusal: boolean }): string {
  const { reason, raw } = finish ?? { reason: 'stop' as const };
  if (seen.call && (reason === 'stop' || reason === 'other')) return 'tool_use';
  if (seen.refusal && reason === 'stop') return 'refusal';
  return raw !== undefined && entryOf(REASONS, raw) === reason ? raw : WORDS[reason];
}

/** The finish members, which a message and `message_delta` share. */
export function writeFinish(finish: Finish | undefined, seen: { call: boolean; refusal: boolean }) {
  const stop_reason = stopReason(finish, seen);
  const explanation = finish?.explanation;
  return {
    stop_reason,
    stop_sequence: finish?.stopSequence ?? null,
    stop_details:
      stop_reason === 'refusal' ? { type: 'refusal', ...(explanation !== undefined && { explanation }) } : null,
  };
}
