/** Writes a text document for formats that accept it only as plain text. */
import type { Media } from '../../../canonical/call.ts';

/** The text, preceded by its title or name and its context. */
export function documentText({ title, name, context }: Media, text: string): string {
  const header = [title ?? name, context].filter((line) => line !== undefined).join('\n');
  return header === '' ? text : `${header}\n\n${text}`;
}
