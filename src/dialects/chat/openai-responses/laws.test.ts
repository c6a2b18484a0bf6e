/** The dialect laws, on every recording of this format. */
import { chatCall } from '../../../../test/chat-call.ts';
import { dialectLaws, readingLaws } from '../../../../test/conformance/dialect-laws.ts';
import { openaiResponsesCompact } from './conversation/compact.ts';
import { openaiResponses } from './openai-responses.ts';

const origin = { dialect: openaiResponses.name, body: new Uint8Array() };

dialectLaws(openaiResponses, chatCall({ origin }));
readingLaws(openaiResponsesCompact, chatCall({ origin, stream: false }));
