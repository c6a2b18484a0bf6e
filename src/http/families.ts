/** The error format for a path, also for unknown paths. Never HTML. */
import { anthropicError, type ErrorWriter, googleError, openaiError } from '../dialects/shared/error-bodies.ts';

const MESSAGES = '/v1/messages';
const BETA = '/v1beta/';
const UPLOAD = '/upload/';
const MODELS = '/v1/models/';
/** A Google action after a model name. A model's tag (`:latest`) does not match. */
const ACTION = /:[a-z]+[A-Z][A-Za-z]*\/?$/;

export function errorWriterFor(method: string, path: string): ErrorWriter {
  if (path.startsWith(MESSAGES)) return anthropicError;
  if (path.startsWith(BETA) || path.startsWith(UPLOAD)) return googleError;
  // Only Google's clients send POST to a model path.
  if (path.startsWith(MODELS) && (method === 'POST' || ACTION.test(path))) return googleError;
  return openaiError;
}
