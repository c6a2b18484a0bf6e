/** A document that is text, for formats that have text alone for it. */
import type { Media } from '../../../canonical/call.ts';

/** The text under what is said about it: its title or name, and its context. */
export function documentText({ title, name, context }: Media, text: string): string {
  const header = [title ?? name, context].filter((line) => line !== undefined).join('\n');
  return header === '' ? text : `${header}\n\n${text}`;
}
