/** What an answer has room for. */
import type { FinishReason } from '../../../canonical/reply.ts';
import type { ReplyRoom } from '../reply-losses.ts';
import { isShown } from './grounding.ts';
import { GEMINI } from './name.ts';

const ENDS = [
  'stop',
  'stop-sequence',
  'length',
  'tool-calls',
  'content-filter',
  'refusal',
  'pause',
  'broken-call',
  'other',
] as const satisfies readonly FinishReason[];

export const REPLY_ROOM: ReplyRoom = {
  dialect: GEMINI,
  without: {},
  logprobs: ['text', 'refusal', 'reasoning', 'tool-call', 'audio', 'image', 'vendor'],
  shows: isShown,
  extras: ['service_tier'],
  oneTextProof: false,
  severalChoices: true,
  stopSequence: false,
  explains: ENDS,
};
