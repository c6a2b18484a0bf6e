/** OpenAI text completions, `POST /v1/completions`: models that continue a prompt. */
import type { ChatCall } from '../../../canonical/call.ts';
import type { Dialect } from '../../dialect.ts';
import { OPENAI_ERRORS } from '../../shared/openai-errors.ts';
import { OPENAI_COMPLETIONS } from '../names.ts';
import { createReader } from './read-reply.ts';
import { readCall } from './read-request.ts';
import { createWriter } from './write-reply.ts';
import { passCall, writeCall } from './write-request.ts';

export const openaiCompletions: Dialect<ChatCall> = {
  name: OPENAI_COMPLETIONS,
  kind: 'chat',
  // Media is reported as lost, so it must not be fetched first.
  supportsMediaUrls: ['image', 'audio', 'document', 'video'],
  readCall,
  writer: createWriter,
  ...OPENAI_ERRORS,
  writeCall,
  passCall,
  reader: (_call, contentType, quirks) => createReader(contentType, quirks),
};
