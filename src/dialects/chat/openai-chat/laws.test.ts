/** The dialect laws, over everything recorded on this wire. */
import { dialectLaws } from '../../../../test/conformance/dialect-laws.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import { openaiChat } from './openai-chat.ts';

const call: ChatCall = {
  kind: 'chat',
  model: 'public-model',
  origin: { dialect: openaiChat.name, body: new Uint8Array() },
  extras: {},
  headers: {},
  stream: true,
  messages: [],
  tools: [],
  sampling: {},
  wantsUsage: true,
};

dialectLaws(openaiChat, call);
