/** The official libraries asked for pictures: a library's own request in (files as base64), its own reply out. */
import { type ClientChild, startChild } from './child.ts';

export interface PicturesAsked {
  call:
    | 'openai generate'
    | 'openai edit'
    | 'ai openai'
    | 'ai compatible'
    | 'ai google'
    | 'genai generate'
    | 'genai stream'
    | 'genai chat'
    | 'genai images';
  at: { url: string; apiKey: string };
  request: object;
}

export interface PicturesView {
  // biome-ignore lint/suspicious/noExplicitAny: looked into as a library's user would
  reply?: any;
  error?: { class: string; status?: number; code?: string; message: string };
}

export type PicturesClient = ClientChild<PicturesAsked, PicturesView>;

export function startPicturesClient(): Promise<PicturesClient> {
  return startChild('pictures-child.mjs');
}
