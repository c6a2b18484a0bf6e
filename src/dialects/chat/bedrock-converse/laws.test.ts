/** The laws of reading, over everything recorded on this wire. */
import { chatCall } from '../../../../test/chat-call.ts';
import { readingLaws } from '../../../../test/conformance/dialect-laws.ts';
import { bedrockConverse } from './bedrock-converse.ts';

readingLaws(bedrockConverse, chatCall());
