/** The dialect laws, on every recording of this format. */

import { dialectLaws } from '../../../../test/conformance/dialect-laws.ts';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { openaiChat } from './openai-chat.ts';

const call = chatCall({ origin: { dialect: openaiChat.name, body: new Uint8Array() }, messages: [] });

dialectLaws(openaiChat, call);
