/** Bedrock's Converse and ConverseStream (Amazon Bedrock API reference). Only providers speak this format. */
import type { ChatCall } from '../../../canonical/call.ts';
import type { ProviderDialect } from '../../dialect.ts';
import { BEDROCK_CONVERSE } from '../names.ts';
import { asksToThink } from '../request/reasoning-effort.ts';
import { readError } from './errors.ts';
import { createReader } from './read-reply.ts';
import { writeCall } from './write-request.ts';

export const bedrockConverse: ProviderDialect<ChatCall> = {
  name: BEDROCK_CONVERSE,
  kind: 'chat',
  singleChoice: true,
  wantsSignatures: asksToThink,
  writeCall,
  reader: createReader,
  readError,
};
