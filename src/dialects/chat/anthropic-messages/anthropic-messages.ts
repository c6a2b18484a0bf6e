/** Anthropic messages, `POST /v1/messages`. */
import type { ChatCall } from '../../../canonical/call.ts';
import type { Dialect } from '../../dialect.ts';
import { anthropicError } from '../../shared/error-bodies.ts';
import { anthropicLimitHeaders } from '../../shared/rate-limit-headers.ts';
import { ANTHROPIC_MESSAGES } from '../names.ts';
import { asksToThink } from '../request/reasoning-effort.ts';
import { readError } from './errors.ts';
import { passCall } from './pass-call.ts';
import { plainReply } from './plain-reply.ts';
import { createReader } from './read-reply.ts';
import { readCall } from './read-request.ts';
import { createWriter } from './write-reply.ts';
import { writeCall } from './write-request.ts';

export const anthropicMessages: Dialect<ChatCall> = {
  name: ANTHROPIC_MESSAGES,
  kind: 'chat',
  returnsSignatures: true,
  wantsSignatures: asksToThink,
  singleChoice: true,
  supportsMediaUrls: ['image', 'document'],
  readCall,
  writer: createWriter,
  writeError: anthropicError,
  limitHeaders: anthropicLimitHeaders,
  writeCall,
  passCall,
  reader: (call, contentType) => createReader(call, contentType),
  plainReply,
  readError,
};
