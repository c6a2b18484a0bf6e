/** Scopes: the groups of endpoints that a key may use. */
import type { Kind } from '../canonical/call.ts';

/** `models`: listing models. `balance`: balance, usage and the billing dashboard. */
export const SCOPES = ['chat', 'embeddings', 'images', 'audio', 'video', 'rerank', 'models', 'balance'] as const;
export type Scope = (typeof SCOPES)[number];

/** The scope that each kind of call needs. Token counting and stored responses belong to `chat`. */
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

/** The scope of that name, or `undefined`. */
export function readScope(text: string): Scope | undefined {
  return SCOPES.find((scope) => scope === text);
}
