/** The table of wire formats. */
import { anthropicMessages } from './anthropic-messages/anthropic-messages.ts';
import { bedrockConverse } from './bedrock-converse/bedrock-converse.ts';
import type { Dialect, VendorDialect } from './dialect.ts';
import { elevenlabsSpeech } from './elevenlabs-speech.ts';
import { cohereEmbed } from './embeddings/cohere-embed.ts';
import { openaiEmbeddings } from './embeddings/openai-embeddings.ts';
import { geminiBatchEmbed, geminiEmbed } from './gemini/embeddings.ts';
import { gemini } from './gemini/gemini.ts';
import { geminiSpeech } from './gemini/speech.ts';
import { vertexEmbeddings } from './gemini/vertex-embeddings.ts';
import { openaiChat } from './openai-chat/openai-chat.ts';
import { openaiCompletions } from './openai-completions/openai-completions.ts';
import { openaiImages } from './openai-images/openai-images.ts';
import { openaiModerations } from './openai-moderations.ts';
import { openaiResponsesCompact } from './openai-responses/compact.ts';
import { openaiResponses } from './openai-responses/openai-responses.ts';
import { openaiSpeech } from './openai-speech/openai-speech.ts';
import { openaiTranscriptions } from './openai-transcriptions/openai-transcriptions.ts';
import { rerank } from './rerank/rerank.ts';
import { dashscopeRerank, voyageRerank } from './rerank/vendor-reranks.ts';
import { dashscopeImages, dashscopeImageTasks } from './vendor-images/dashscope-images.ts';
import { imagen } from './vendor-images/imagen.ts';
import { stability } from './vendor-images/stability.ts';

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

/** Those that vendors alone speak, beside the others. */
const VENDOR_ROWS: readonly VendorDialect[] = [
  ...ROWS,
  bedrockConverse,
  imagen,
  dashscopeImages,
  dashscopeImageTasks,
  stability,
  cohereEmbed,
  vertexEmbeddings,
  geminiSpeech,
  elevenlabsSpeech,
  voyageRerank,
  dashscopeRerank,
];
const VENDOR_DIALECTS: ReadonlyMap<string, VendorDialect> = new Map(VENDOR_ROWS.map((row) => [row.name, row]));

export function vendorDialectNamed(name: string): VendorDialect | undefined {
  return VENDOR_DIALECTS.get(name);
}

export function dialectNamed(name: string): Dialect | undefined {
  return DIALECTS.get(name);
}
