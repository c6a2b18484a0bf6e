/** What a chat completion has room for. */
import type { ReplyRoom } from '../reply-losses.ts';
import { OPENAI_CHAT } from './name.ts';

export const REPLY_ROOM: ReplyRoom = {
  dialect: OPENAI_CHAT,
  without: {},
  logprobs: ['text', 'refusal', 'reasoning', 'tool-call', 'audio', 'image', 'vendor'],
  shows: ({ url }) => url !== undefined,
  extras: ['service_tier', 'system_fingerprint'],
  oneTextProof: true,
  severalChoices: true,
  stopSequence: true,
  explains: ['refusal', 'content-filter'],
};
