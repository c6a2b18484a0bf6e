/** OpenAI's Responses, `POST /v1/responses`: a conversation as a list of items. */
import type { ChatCall } from '../../../canonical/call.ts';
import type { Dialect } from '../../dialect.ts';
import { OPENAI_ERRORS } from '../../shared/openai-errors.ts';
import { OPENAI_RESPONSES } from '../names.ts';
import { keeping } from './conversation/keeping.ts';
import { givesReasoning } from './conversation/kept-here.ts';
import { passCall } from './pass-call.ts';
import { createReader } from './read-reply.ts';
import { readCall } from './read-request.ts';
import { createWriter } from './write-reply.ts';
import { writeCall } from './write-request.ts';

export const openaiResponses: Dialect<ChatCall> = {
  name: OPENAI_RESPONSES,
  kind: 'chat',
  hasBoundSignatures: true,
  returnsSignatures: true,
  wantsSignatures: (_, model) => givesReasoning(model),
  keeping,
  singleChoice: true,
  supportsMediaUrls: ['image', 'document'],
  readCall,
  writer: createWriter,
  ...OPENAI_ERRORS,
  writeCall,
  passCall,
  reader: createReader,
};
