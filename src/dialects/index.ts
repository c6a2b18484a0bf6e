/** The table of API formats. */

import { elevenlabsSpeech } from './audio/elevenlabs-speech.ts';
import { openaiSpeech } from './audio/openai-speech/openai-speech.ts';
import { openaiTranscriptions } from './audio/openai-transcriptions/openai-transcriptions.ts';
import { anthropicMessages } from './chat/anthropic-messages/anthropic-messages.ts';
import { bedrockConverse } from './chat/bedrock-converse/bedrock-converse.ts';
import { geminiBatchEmbed, geminiEmbed } from './chat/gemini/embeddings/embeddings.ts';
import { vertexEmbeddings } from './chat/gemini/embeddings/vertex-embeddings.ts';
import { gemini } from './chat/gemini/gemini.ts';
import { geminiSpeech } from './chat/gemini/speech.ts';
import { openaiChat } from './chat/openai-chat/openai-chat.ts';
import { openaiCompletions } from './chat/openai-completions/openai-completions.ts';
import { openaiResponsesCompact } from './chat/openai-responses/conversation/compact.ts';
import { openaiResponses } from './chat/openai-responses/openai-responses.ts';
import type { Dialect, ProviderDialect } from './dialect.ts';
import { cohereEmbed } from './embeddings/cohere-embed.ts';
import { openaiEmbeddings } from './embeddings/openai-embeddings.ts';
import { dashscopeImages, dashscopeImageTasks } from './images/dashscope-images.ts';
import { imagen } from './images/imagen.ts';
import { openaiImages } from './images/openai-images/openai-images.ts';
import { stabilityImages } from './images/stability.ts';
import { openaiModerations } from './moderation/openai-moderations.ts';
import { dashscopeRerank, voyageRerank } from './rerank/provider-reranks.ts';
import { rerank } from './rerank/rerank.ts';

const ROWS: readonly Dialect[] = [
  openaiChat,
  openaiCompletions,
  openaiResponses,
  openaiResponsesCompact,
  anthropicMessages,
  gemini,
  openaiImages,
  openaiEmbeddings,
  geminiBatchEmbed,
  geminiEmbed,
  openaiSpeech,
  openaiTranscriptions,
  openaiModerations,
  rerank,
];

export const DIALECTS: ReadonlyMap<string, Dialect> = new Map(ROWS.map((dialect) => [dialect.name, dialect]));

/** Formats that only providers speak. */
const PROVIDER_ROWS: readonly ProviderDialect[] = [
  ...ROWS,
  bedrockConverse,
  imagen,
  dashscopeImages,
  dashscopeImageTasks,
  stabilityImages,
  cohereEmbed,
  vertexEmbeddings,
  geminiSpeech,
  elevenlabsSpeech,
  voyageRerank,
  dashscopeRerank,
];
export const PROVIDER_DIALECTS: ReadonlyMap<string, ProviderDialect> = new Map(
  PROVIDER_ROWS.map((row) => [row.name, row]),
);

export function providerDialectNamed(name: string): ProviderDialect | undefined {
  return PROVIDER_DIALECTS.get(name);
}

export function dialectNamed(name: string): Dialect | undefined {
  return DIALECTS.get(name);
}
