/** Bedrock's Converse and ConverseStream: spoken with vendors alone, no client asks in it. */
import type { ChatCall } from '../../canonical/call.ts';
import type { VendorDialect } from '../dialect.ts';
import { BEDROCK_CONVERSE } from './name.ts';
import { readError } from './read-error.ts';
import { createReader } from './reader.ts';
import { writeCall } from './write-call.ts';

export const bedrockConverse: VendorDialect<ChatCall> = {
  name: BEDROCK_CONVERSE,
  kind: 'chat',
  singleChoice: true,
  wantsProofs: ({ reasoning }) =>
    reasoning !== undefined && reasoning.effort !== 'none' && reasoning.budgetTokens !== 0,
  writeCall,
  reader: createReader,
  readError,
};
