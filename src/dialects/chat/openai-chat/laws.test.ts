/** The dialect laws, on every recording of this format. */
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
