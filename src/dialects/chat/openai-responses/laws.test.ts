/** The dialect laws, on every recording of this format. */

import { dialectLaws, readingLaws } from '../../../../test/conformance/dialect-laws.ts';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { openaiResponsesCompact } from './conversation/compact.ts';
import { openaiResponses } from './openai-responses.ts';

const origin = { dialect: openaiResponses.name, body: new Uint8Array() };

dialectLaws(openaiResponses, chatCall({ origin }));
readingLaws(openaiResponsesCompact, chatCall({ origin, stream: false }));
