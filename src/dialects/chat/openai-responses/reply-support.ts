/** What a response has room for. */
import type { ReplyRoom } from '../reply-losses.ts';
import { writeAnnotation } from './citations.ts';
import { OPENAI_RESPONSES } from './name.ts';

export const REPLY_ROOM: ReplyRoom = {
  dialect: OPENAI_RESPONSES,
  without: { audio: 'was given in its words alone: the format has no audio' },
  logprobs: ['text'],
  shows: (citation) => writeAnnotation(citation) !== undefined,
  extras: ['service_tier'],
  oneTextProof: false,
  severalChoices: false,
  stopSequence: false,
  explains: ['refusal', 'content-filter', 'broken-call'],
};
