/** Image requests of the official libraries: a library's request in (files as base64), its response out. */
import { type ClientChild, startChild } from './child.ts';

export interface ImagesAsked {
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

export interface ImagesView {
  // biome-ignore lint/suspicious/noExplicitAny: looked into as a library's user would
  reply?: any;
  error?: { class: string; status?: number; code?: string; message: string };
}

export type ImagesClient = ClientChild<ImagesAsked, ImagesView>;

export function startImagesClient(): Promise<ImagesClient> {
  return startChild('images-child.mjs');
}
