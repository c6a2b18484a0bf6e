/**
 * Providers with OpenAI's formats: an address, a bearer token, and deviations as data. Also the provider type
 * `openai-compatible`.
 */
import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Quirks } from '../../dialects/shared/quirks.ts';
import type { Outgoing, Target } from '../outgoing.ts';
import type { Provider } from '../provider.ts';

/** What distinguishes such a provider from the others. */
export interface CompatibleProvider extends Omit<Provider, 'needsCredential' | 'speaks' | 'url' | 'authorize'> {
  /** Default: `true`. */
  readonly needsCredential?: boolean;
  /** It also serves text completions. */
  readonly completions?: true;
  /** It also serves Responses. */
  readonly responses?: true;
  /** It also compacts conversations (`/responses/compact`). */
  readonly compacts?: true;
  /** It generates images, with these quirks. */
  readonly images?: Quirks;
  /** It edits images at the path that generates them. */
  readonly editsWhereGenerated?: true;
  /** It computes embeddings, with these quirks. */
  readonly embeddings?: Quirks;
  /** It generates speech, with these quirks. */
  readonly speech?: Quirks;
  /** It transcribes audio, with these quirks. */
  readonly transcription?: Quirks;
  /** It moderates texts, with these quirks. */
  readonly moderation?: Quirks;
  /** It reranks documents, with these quirks. */
  readonly rerank?: Quirks;
}

const PATHS: { readonly [dialect: string]: string } = {
  'openai-chat': '/chat/completions',
  'openai-completions': '/completions',
  'openai-responses': '/responses',
  'openai-responses-compact': '/responses/compact',
  'openai-images': '/images/generations',
  'openai-embeddings': '/embeddings',
  'openai-speech': '/audio/speech',
  'openai-transcriptions': '/audio/transcriptions',
  'openai-moderations': '/moderations',
  rerank: '/rerank',
  'voyage-rerank': '/rerank',
};

export function openaiCompatibleProvider(provider: CompatibleProvider): Provider {
  const {
    completions,
    responses,
    compacts,
    images,
    embeddings,
    speech,
    transcription,
    moderation,
    rerank,
    quirks,
    editsWhereGenerated,
    ...row
  } = provider;
  return {
    needsCredential: true,
    ...row,
    speaks: {
      chat: [
        'openai-chat',
        ...(completions ? ['openai-completions'] : []),
        ...(responses ? ['openai-responses'] : []),
        ...(compacts ? ['openai-responses-compact'] : []),
      ],
      ...(images && { image: ['openai-images'] }),
      ...(embeddings && { embed: ['openai-embeddings'] }),
      ...(speech && { speech: ['openai-speech'] }),
      ...(transcription && { transcription: ['openai-transcriptions'] }),
      ...(moderation && { moderation: ['openai-moderations'] }),
      ...(rerank && { rerank: ['rerank'] }),
    },
    url: (target, dialect, call) =>
      joinUrl(target.baseUrl, pathOf(dialect, editsWhereGenerated && call.kind === 'image' ? undefined : call)),
    authorize: authorizeByBearer,
    // Only OpenAI has the role `developer`. Elsewhere it is an error, or the prompt template drops the message.
    quirks: { supportsDeveloperRole: false, supportsFreeTextTools: false, ...quirks } satisfies Quirks,
    otherQuirks: {
      ...(images && { image: images }),
      ...(embeddings && { embed: embeddings }),
      ...(speech && { speech }),
      ...(transcription && { transcription }),
      ...(moderation && { moderation }),
      ...(rerank && { rerank }),
    },
  };
}

export function authorizeByBearer(outgoing: Outgoing, target: Target): void {
  if (target.credential !== undefined) outgoing.headers.authorization = `Bearer ${target.credential}`;
}

/** The path of a dialect below the base URL. */
export function pathOf(dialect: string, call?: Call): string {
  if (call?.kind === 'image' && call.edit) return '/images/edits';
  if (call?.kind === 'transcription' && call.translate) return '/audio/translations';
  const path = PATHS[dialect];
  if (path === undefined) {
    throw new GatewayError('internal_error', 'The gateway failed on its own side.', {
      cause: `no path for ${dialect}`,
    });
  }
  return path;
}

export function joinUrl(baseUrl: string, path: string): string {
  return (baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : baseUrl) + path;
}

/** Any other server with these formats. */
export const openaiCompatible = openaiCompatibleProvider({
  name: 'openai-compatible',
  needsCredential: false,
  // Google's OpenAI-compatible API, at any address.
  quirks: { models: [{ match: '(^|/)gemini-', quirks: { returnsReasoningInTotal: true } }] },
  completions: true,
  images: { requiresEditForm: true },
  embeddings: { supportsEncodingFormat: false },
  speech: {},
  transcription: {},
  moderation: {},
  rerank: {},
});
