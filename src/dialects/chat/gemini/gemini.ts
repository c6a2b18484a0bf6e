/** Google's generateContent, `POST …/models/{model}:generateContent`, streaming and non-streaming. */
import type { ChatCall } from '../../../canonical/call.ts';
import type { Dialect } from '../../dialect.ts';
import { googleError } from '../../shared/error-bodies.ts';
import { GEMINI } from '../names.ts';
import { readError } from './errors.ts';
import { traitsOf } from './model-traits.ts';
import { createReader } from './read-reply.ts';
import { readCall } from './read-request.ts';
import { createWriter } from './write-reply.ts';
import { passCall, writeCall } from './write-request.ts';

export const gemini: Dialect<ChatCall> = {
  name: GEMINI,
  kind: 'chat',
  returnsSignatures: true,
  wantsSignatures: (_, model) => traitsOf(model).thinking !== 'none',
  readCall,
  writer: createWriter,
  writeError: googleError,
  writeCall,
  passCall,
  reader: (call, contentType) => createReader(call, contentType),
  readError,
};
