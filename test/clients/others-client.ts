/** Official libraries for calls other than chat: a library's request in, its response out. */
import { type ClientChild, startChild } from './child.ts';

export interface OtherCall {
  call:
    | 'openai embeddings'
    | 'openai speech'
    | 'openai transcriptions'
    | 'openai translations'
    | 'openai moderations'
    | 'genai embedContent'
    | 'cohere rerank'
    | 'cohere v2 rerank'
    | 'ai embed'
    | 'ai embedMany'
    | 'ai google embedMany'
    | 'ai rerank'
    | 'ai generateSpeech'
    | 'ai transcribe';
  at: { url: string; apiKey: string };
  request: object;
}

export interface OtherView {
  reply?: unknown;
  error?: { class: string; status?: number; message: string };
}

export type OthersClient = ClientChild<OtherCall, OtherView>;

export function startOthersClient(): Promise<OthersClient> {
  return startChild('others-child.mjs');
}
