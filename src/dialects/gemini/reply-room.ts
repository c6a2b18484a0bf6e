/** What an answer has room for. */
import type { ReplyRoom } from '../reply-losses.ts';
import { isShown } from './grounding.ts';
import { GEMINI } from './name.ts';

export const REPLY_ROOM: ReplyRoom = {
  dialect: GEMINI,
  without: {},
  logprobs: ['text', 'refusal', 'reasoning', 'tool-call', 'audio', 'image', 'vendor'],
  shows: isShown,
  extras: ['service_tier'],
  oneTextProof: false,
  severalChoices: true,
  stopSequence: false,
  explanation: true,
};
