/** What an answer has room for. */
import type { ReplyRoom } from '../reply-losses.ts';
import { GEMINI } from './name.ts';

export const REPLY_ROOM: ReplyRoom = {
  dialect: GEMINI,
  without: {},
  logprobs: ['text', 'refusal', 'reasoning', 'tool-call', 'audio', 'image', 'vendor'],
  shows: ({ url, citedText, vendor }) => url !== undefined || citedText !== undefined || vendor?.dialect === GEMINI,
  extras: ['service_tier'],
  severalChoices: true,
  stopSequence: false,
  explanation: true,
};
