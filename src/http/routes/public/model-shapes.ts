/** Writes models in the three list formats, with their paging. */
import type { Kind } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { Model } from '../../../catalog/catalog.ts';

export function openaiList(models: readonly Model[]): object {
  return { object: 'list', data: models.map(openaiModel) };
}

export function openaiModel(model: Model): object {
  return { id: model.name, object: 'model', created: Math.floor(model.createdAt / 1000), owned_by: model.ownedBy };
}

const ANTHROPIC_PAGE = 20;

export function anthropicPage(
  models: readonly Model[],
  query: { limit?: number; before_id?: string; after_id?: string },
): object {
  const limit = query.limit ?? ANTHROPIC_PAGE;
  let page: readonly Model[];
  let hasMore: boolean;
  if (query.before_id !== undefined) {
    const end = indexOf(models, query.before_id, 'before_id');
    page = models.slice(Math.max(0, end - limit), end);
    hasMore = end > limit;
  } else {
    const start = query.after_id === undefined ? 0 : indexOf(models, query.after_id, 'after_id') + 1;
    page = models.slice(start, start + limit);
    hasMore = models.length > start + limit;
  }
  return {
    data: page.map(anthropicModel),
    has_more: hasMore,
    first_id: page[0]?.name ?? null,
    last_id: page.at(-1)?.name ?? null,
  };
}

export function anthropicModel(model: Model): object {
  return {
    type: 'model',
    id: model.name,
    display_name: model.displayName,
    created_at: new Date(model.createdAt).toISOString(),
    max_input_tokens: model.contextTokens ?? null,
    max_tokens: model.maxOutputTokens,
  };
}

const GOOGLE_PAGE = 50;
const GOOGLE_PAGE_MOST = 1000;

export function googlePage(models: readonly Model[], query: { pageSize?: number; pageToken?: string }): object {
  const size = Math.min(query.pageSize ?? GOOGLE_PAGE, GOOGLE_PAGE_MOST);
  const after = query.pageToken === undefined ? undefined : Buffer.from(query.pageToken, 'base64url').toString();
  const start = after === undefined ? 0 : indexOf(models, after, 'pageToken') + 1;
  const page = models.slice(start, start + size);
  const last = page.at(-1);
  const more = last !== undefined && models.length > start + size;
  return {
    models: page.map(googleModel),
    ...(more && { nextPageToken: Buffer.from(last.name).toString('base64url') }),
  };
}

const GOOGLE_METHODS: { readonly [kind in Kind]: readonly string[] } = {
  chat: ['generateContent', 'streamGenerateContent', 'countTokens'],
  embed: ['embedContent', 'batchEmbedContents'],
  rerank: [],
  image: ['generateContent'],
  speech: ['generateContent'],
  transcription: [],
  moderation: [],
  video: [],
};

export function googleModel(model: Model): object {
  return {
    name: `models/${model.name}`,
    version: '1',
    displayName: model.displayName,
    description: `${model.displayName} of ${model.ownedBy}`,
    ...(model.contextTokens !== undefined && { inputTokenLimit: model.contextTokens }),
    outputTokenLimit: model.maxOutputTokens,
    supportedGenerationMethods: GOOGLE_METHODS[model.kind],
  };
}

function indexOf(models: readonly Model[], name: string, param: string): number {
  const index = models.findIndex((model) => model.name === name);
  if (index >= 0) return index;
  throw new GatewayError('invalid_request', `"${param}" is not a model of this list.`, { param });
}
