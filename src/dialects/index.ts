/** The table of wire formats. */
import { anthropicMessages } from './anthropic-messages/anthropic-messages.ts';
import type { Dialect } from './dialect.ts';
import { gemini } from './gemini/gemini.ts';
import { openaiChat } from './openai-chat/openai-chat.ts';
import { openaiCompletions } from './openai-completions/openai-completions.ts';
import { openaiResponses } from './openai-responses/openai-responses.ts';

const ROWS: readonly Dialect[] = [openaiChat, openaiCompletions, openaiResponses, anthropicMessages, gemini];

export const DIALECTS: ReadonlyMap<string, Dialect> = new Map(ROWS.map((dialect) => [dialect.name, dialect]));

export function dialectNamed(name: string): Dialect | undefined {
  return DIALECTS.get(name);
}
