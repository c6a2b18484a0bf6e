/** OpenAI chat completions, `POST /v1/chat/completions`: the format that nearly every vendor copied. */
import type { ChatCall } from '../../canonical/call.ts';
import type { Dialect } from '../dialect.ts';
import { openaiError } from '../error-bodies.ts';
import { readOpenaiError } from '../openai-errors.ts';
import { OPENAI_CHAT } from './name.ts';
import { passCall } from './pass-call.ts';
import { wantsProofs } from './proofs.ts';
import { readCall } from './read-call.ts';
import { createReader } from './reader.ts';
import { writeCall } from './write-call.ts';
import { createWriter } from './writer.ts';

export const openaiChat: Dialect<ChatCall> = {
  name: OPENAI_CHAT,
  kind: 'chat',
  boundProofs: true,
  wantsProofs,
  takesUrls: ['image', 'video'],
  readCall,
  writer: createWriter,
  writeError: openaiError,
  writeCall,
  passCall,
  reader: createReader,
  readError: readOpenaiError,
};
