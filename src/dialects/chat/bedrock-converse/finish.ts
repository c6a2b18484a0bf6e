/** Maps finish reasons between this format and the canonical ones. */
import { entryOf } from '../../../canonical/entry-of.ts';
import { isObject, type Json } from '../../../canonical/json.ts';
import type { Finish, FinishReason } from '../../../canonical/reply.ts';

const REASONS: { readonly [word: string]: FinishReason } = {
  end_turn: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  stop_sequence: 'stop-sequence',
  guardrail_intervened: 'content-filter',
  content_filtered: 'content-filter',
  malformed_tool_use: 'broken-call',
  malformed_model_output: 'other',
};

/** `fields`: `additionalModelResponseFields`, which the request asks for. */
export function readFinish(raw: string, fields: Json | undefined): Finish {
  const stopSequence = isObject(fields) ? fields.stop_sequence : undefined;
  return { reason: entryOf(REASONS, raw) ?? 'other', raw, ...(typeof stopSequence === 'string' && { stopSequence }) };
}
