/** Providers that speak OpenAI's formats: an address, a bearer token, deviations as data. And the row for any other of them. */
import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Quirks } from '../../dialects/dialect.ts';
import type { Outgoing, Target } from '../outgoing.ts';
import type { Provider } from '../provider.ts';

/** What sets one such provider apart from the others. */
export interface Vendor extends Omit<Provider, 'needsCredential' | 'speaks' | 'url' | 'authorize'> {
  /** Absent: it does. */
  readonly needsCredential?: boolean;
  /** It also serves text completions. */
  readonly completions?: true;
  /** It also serves Responses. */
  readonly responses?: true;
  /** It also compacts conversations (`/responses/compact`). */
  readonly compacts?: true;
  /** It draws images, with these deviations. */
  readonly images?: Quirks;
  /** It changes them where it draws them, not at a path of its own. */
  readonly editsWhereDrawn?: true;
  /** It embeds texts, with these deviations. */
  readonly embeddings?: Quirks;
  /** It speaks texts, with these deviations. */
  readonly speech?: Quirks;
  /** It writes down what it hears, with these deviations. */
  readonly transcription?: Quirks;
  /** It judges texts, with these deviations. */
  readonly moderation?: Quirks;
  /** It ranks documents, with these deviations. */
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

export function openaiCompatibleVendor(vendor: Vendor): Provider {
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
    editsWhereDrawn,
    ...row
  } = vendor;
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
      joinUrl(target.baseUrl, pathOf(dialect, editsWhereDrawn && call.kind === 'image' ? undefined : call)),
    authorize: authorizeByBearer,
    // `developer` is OpenAI's own word: elsewhere it is an error, or a prompt template drops the message.
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

/** Where below a base URL a dialect is served. */
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

/** Any server that speaks these formats at an address of the operator's. */
export const openaiCompatible = openaiCompatibleVendor({
  name: 'openai-compatible',
  needsCredential: false,
  // Google's copy of the format, whatever address it is at.
  quirks: { models: [{ match: '(^|/)gemini-', quirks: { returnsReasoningInTotal: true } }] },
  completions: true,
  images: { requiresEditForm: true },
  embeddings: { supportsEncodingFormat: false },
  speech: {},
  transcription: {},
  moderation: {},
  rerank: {},
});
