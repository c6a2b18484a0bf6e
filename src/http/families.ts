/** Which error shape a path speaks, known or not: never HTML. */
import { anthropicError, type ErrorWriter, googleError, openaiError } from '../dialects/shared/error-bodies.ts';

const MESSAGES = '/v1/messages';
const BETA = '/v1beta/';
const UPLOAD = '/upload/';
const MODELS = '/v1/models/';
/** An action of Google's behind a model's name; tags of models are no such word. */
const ACTION = /:[a-z]+[A-Z][A-Za-z]*\/?$/;

export function errorWriterFor(method: string, path: string): ErrorWriter {
  if (path.startsWith(MESSAGES)) return anthropicError;
  if (path.startsWith(BETA) || path.startsWith(UPLOAD)) return googleError;
  // Only Google's clients post to a model.
  if (path.startsWith(MODELS) && (method === 'POST' || ACTION.test(path))) return googleError;
  return openaiError;
}
