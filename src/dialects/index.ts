/** The table of wire formats. */
import type { Dialect } from './dialect.ts';
import { openaiChat } from './openai-chat/openai-chat.ts';
import { openaiCompletions } from './openai-completions/openai-completions.ts';

export const DIALECTS: ReadonlyMap<string, Dialect> = new Map(
  [openaiChat, openaiCompletions].map((dialect) => [dialect.name, dialect]),
);

export function dialectNamed(name: string): Dialect | undefined {
  return DIALECTS.get(name);
}
