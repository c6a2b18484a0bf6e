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

/** Speech from the official library. Throws if it throws. */
export async function speechBy(
  client: OthersClient,
  at: OtherCall['at'],
  request: object,
): Promise<{ type: string; bytes: Buffer }> {
  const { reply, error } = await client.run({ call: 'openai speech', at, request });
  if (error) throw new Error(JSON.stringify(error));
  const { type, base64 } = reply as { type: string; base64: string };
  return { type, bytes: Buffer.from(base64, 'base64') };
}

export function startOthersClient(): Promise<OthersClient> {
  return startChild('others-child.mjs');
}
