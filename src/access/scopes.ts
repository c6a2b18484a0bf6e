/** What a key may be used for, by family of endpoints. */
import type { Kind } from '../canonical/call.ts';

/** `models`: the lists of models; `balance`: balance, usage and the billing dashboard. */
export const SCOPES = ['chat', 'embeddings', 'images', 'audio', 'video', 'rerank', 'models', 'balance'] as const;
export type Scope = (typeof SCOPES)[number];

/** The scope that a call of each kind needs; token counts and stored responses belong to `chat`. */
export const SCOPE_OF: { readonly [kind in Kind]: Scope } = {
  chat: 'chat',
  embed: 'embeddings',
  rerank: 'rerank',
  image: 'images',
  speech: 'audio',
  transcription: 'audio',
  moderation: 'chat',
  video: 'video',
};

/** `undefined` where the text names no scope. */
export function readScope(text: string): Scope | undefined {
  return SCOPES.find((scope) => scope === text);
}
