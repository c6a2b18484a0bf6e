/** Which error shape a path speaks, known or not: never HTML. */
import { anthropicError, type ErrorWriter, googleError, openaiError } from '../dialects/error-bodies.ts';

const FAMILIES: readonly (readonly [prefix: string, ErrorWriter])[] = [
  ['/v1/messages', anthropicError],
  ['/v1beta/', googleError],
];

export function errorWriterFor(path: string): ErrorWriter {
  for (const [prefix, writer] of FAMILIES) if (path.startsWith(prefix)) return writer;
  return openaiError;
}
