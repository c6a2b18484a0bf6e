/** What a message has room for. */
import type { ReplyRoom } from '../reply-losses.ts';
import { shownCitation } from './citations.ts';
import { ANTHROPIC_MESSAGES } from './name.ts';

export const REPLY_ROOM: ReplyRoom = {
  dialect: ANTHROPIC_MESSAGES,
  without: { audio: 'was given in its words alone: the format has no audio' },
  logprobs: [],
  shows: (citation) => shownCitation(citation) !== undefined,
  extras: ['service_tier'],
  oneTextProof: false,
  severalChoices: false,
  stopSequence: true,
  explains: ['refusal', 'content-filter'],
};
