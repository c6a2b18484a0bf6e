/** The table of wire formats. */
import { anthropicMessages } from './anthropic-messages/anthropic-messages.ts';
import type { Dialect } from './dialect.ts';
import { cohereEmbed } from './embeddings/cohere-embed.ts';
import { openaiEmbeddings } from './embeddings/openai-embeddings.ts';
import { geminiBatchEmbed, geminiEmbed } from './gemini/embeddings.ts';
import { gemini } from './gemini/gemini.ts';
import { vertexEmbeddings } from './gemini/vertex-embeddings.ts';
import { openaiChat } from './openai-chat/openai-chat.ts';
import { openaiCompletions } from './openai-completions/openai-completions.ts';
import { openaiResponses } from './openai-responses/openai-responses.ts';
import { rerank } from './rerank/rerank.ts';
import { dashscopeRerank, voyageRerank } from './rerank/vendor-reranks.ts';

const ROWS: readonly Dialect[] = [
  openaiChat,
  openaiCompletions,
  openaiResponses,
  anthropicMessages,
  gemini,
  openaiEmbeddings,
  geminiBatchEmbed,
  geminiEmbed,
  cohereEmbed,
  vertexEmbeddings,
  rerank,
  voyageRerank,
  dashscopeRerank,
];

export const DIALECTS: ReadonlyMap<string, Dialect> = new Map(ROWS.map((dialect) => [dialect.name, dialect]));

export function dialectNamed(name: string): Dialect | undefined {
  return DIALECTS.get(name);
}
