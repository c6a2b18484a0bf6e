/** The laws of reading, on every recording of this format. */
import { chatCall } from '../../../../test/chat-call.ts';
import { readingLaws } from '../../../../test/conformance/dialect-laws.ts';
import { bedrockConverse } from './bedrock-converse.ts';

readingLaws(bedrockConverse, chatCall());
