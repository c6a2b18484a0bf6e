/** Maps finish reasons between this format and the canonical ones. */
import { entryOf } from '../../../canonical/entry-of.ts';
import type { Finish, FinishReason } from '../../../canonical/reply.ts';

const REASONS: { readonly [word: string]: FinishReason } = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  // The model would continue in another call.
  CONTINUATION: 'length',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  LANGUAGE: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
  IMAGE_SAFETY: 'content-filter',
  IMAGE_PROHIBITED_CONTENT: 'content-filter',
  IMAGE_RECITATION: 'content-filter',
  MALFORMED_FUNCTION_CALL: 'broken-call',
  UNEXPECTED_TOOL_CALL: 'broken-call',
  TOO_MANY_TOOL_CALLS: 'broken-call',
  MALFORMED_RESPONSE: 'broken-call',
};

const WORDS = {
  stop: 'STOP',
  'stop-sequence': 'STOP',
  length: 'MAX_TOKENS',
  'tool-calls': 'STOP',
  'content-filter': 'SAFETY',
  refusal: 'SAFETY',
  pause: 'STOP',
  'broken-call': 'MALFORMED_FUNCTION_CALL',
  other: 'OTHER',
} as const satisfies Record<FinishReason, string>;

/** The provider's value for no reason. */
export const UNSAID = 'FINISH_REASON_UNSPECIFIED';

/** Whether the value says that a candidate ended. */
export function isFinish(word: unknown): word is string {
  return typeof word === 'string' && word !== '' && word !== UNSAID;
}

/** Google reports STOP for tool calls too; the canonical reason says so. */
export function readFinish(raw: string, message: unknown, sawCall: boolean): Finish {
  const mapped = entryOf(REASONS, raw) ?? 'other';
  const reason = sawCall && (mapped === 'stop' || mapped === 'other') ? 'tool-calls' : mapped;
  return { reason, raw, ...(typeof message === 'string' && message !== '' && { explanation: message }) };
}

/** The finish reason of a prompt that was blocked. */
export function blockedFinish(raw: unknown, message: unknown): Finish {
  return {
    reason: 'content-filter',
    ...(typeof raw === 'string' && { raw }),
    ...(typeof message === 'string' && message !== '' && { explanation: message }),
  };
}

/** The finish members. `refused`: the text of the reply is a refusal. */
export function writeFinish(
  { reason, raw, explanation }: Finish,
  refused: boolean,
): { finishReason: string; finishMessage?: string } {
  const isOwn = raw !== undefined && entryOf(REASONS, raw) === reason;
  const word = isOwn ? raw : refused && reason === 'stop' ? WORDS.refusal : WORDS[reason];
  return { finishReason: word, ...(explanation !== undefined && { finishMessage: explanation }) };
}
