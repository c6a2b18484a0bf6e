/** OpenAI's pictures, `POST /v1/images/generations` and `/v1/images/edits`, and the nested shape of the first. */
import type { ImageCall } from '../../canonical/call.ts';
import type { Dialect } from '../dialect.ts';
import { openaiError } from '../error-bodies.ts';
import { readOpenaiError } from '../openai-errors.ts';
import { OPENAI_IMAGES } from './name.ts';
import { readCall } from './read-call.ts';
import { createReader } from './reader.ts';
import { passCall, takesUploads, writeCall } from './write-call.ts';
import { createWriter } from './writer.ts';

export const openaiImages: Dialect<ImageCall> = {
  name: OPENAI_IMAGES,
  kind: 'image',
  readCall,
  writer: createWriter,
  writeError: openaiError,
  takesUploads,
  writeCall,
  passCall,
  reader: (call, contentType) => createReader(call, contentType),
  readError: readOpenaiError,
};
