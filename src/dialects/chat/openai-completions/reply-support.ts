/** What a text completion has room for. */
import type { ReplyRoom } from '../reply-losses.ts';
import { OPENAI_COMPLETIONS } from './name.ts';

const LEFT_OUT = 'was left out: the format has text alone';

export const REPLY_ROOM: ReplyRoom = {
  dialect: OPENAI_COMPLETIONS,
  without: {
    refusal: 'was given as its text',
    reasoning: LEFT_OUT,
    'tool-call': LEFT_OUT,
    audio: LEFT_OUT,
    image: LEFT_OUT,
  },
  logprobs: ['text', 'refusal'],
  shows: () => false,
  extras: [],
  oneTextProof: false,
  severalChoices: true,
  stopSequence: true,
  explains: [],
};
