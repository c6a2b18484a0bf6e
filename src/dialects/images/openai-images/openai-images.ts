/** OpenAI's images, `POST /v1/images/generations` and `/v1/images/edits`, and a nested request shape for the first. */
import type { ImageCall } from '../../../canonical/call.ts';
import type { Dialect } from '../../dialect.ts';
import { OPENAI_ERRORS } from '../../shared/openai-errors.ts';
import { OPENAI_IMAGES } from './name.ts';
import { createReader } from './read-reply.ts';
import { readCall } from './read-request.ts';
import { createWriter } from './write-reply.ts';
import { passCall, takesUploads, writeCall } from './write-request.ts';

export const openaiImages: Dialect<ImageCall> = {
  name: OPENAI_IMAGES,
  kind: 'image',
  readCall,
  writer: createWriter,
  ...OPENAI_ERRORS,
  takesUploads,
  writeCall,
  passCall,
  reader: (call, contentType) => createReader(call, contentType),
};
