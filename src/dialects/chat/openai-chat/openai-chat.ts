/** OpenAI chat completions, `POST /v1/chat/completions`, which nearly every provider offers. */
import type { ChatCall } from '../../../canonical/call.ts';
import type { Dialect } from '../../dialect.ts';
import { OPENAI_ERRORS } from '../../shared/openai-errors.ts';
import { OPENAI_CHAT } from '../names.ts';
import { passCall, wantsSignatures } from './adjust.ts';
import { plainReply } from './plain-reply.ts';
import { createReader } from './read-reply.ts';
import { readCall } from './read-request.ts';
import { createWriter } from './write-reply.ts';
import { writeCall } from './write-request.ts';

export const openaiChat: Dialect<ChatCall> = {
  name: OPENAI_CHAT,
  kind: 'chat',
  hasBoundSignatures: true,
  wantsSignatures,
  supportsMediaUrls: ['image', 'video'],
  readCall,
  writer: createWriter,
  plainReply,
  ...OPENAI_ERRORS,
  writeCall,
  passCall,
  reader: createReader,
};
