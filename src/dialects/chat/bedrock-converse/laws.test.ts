/** The laws of reading, on every recording of this format. */

import { readingLaws } from '../../../../test/conformance/dialect-laws.ts';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import { bedrockConverse } from './bedrock-converse.ts';

readingLaws(bedrockConverse, chatCall());
