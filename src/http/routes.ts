/** The route table: routes relayed to the gateway, with their dialect, and routes answered here. */

import type { AnsweredRoute, RelayedRoute } from './route.ts';
import { NO_QUERY } from './route.ts';
import { ACCOUNT_ROUTES } from './routes/admin/account-routes.ts';
import { ALERT_ROUTES } from './routes/admin/alert-routes.ts';
import { AUDIT_ROUTES } from './routes/admin/audit-routes.ts';
import { CALL_ROUTES } from './routes/admin/call-routes.ts';
import { CATALOG_ROUTES } from './routes/admin/catalog-routes.ts';
import { EXPLAIN_ROUTES } from './routes/admin/explain-routes.ts';
import { HEALTH_ROUTES } from './routes/admin/health-routes.ts';
import { KEY_ROUTES } from './routes/admin/key-routes.ts';
import { LEDGER_ROUTES } from './routes/admin/ledger-routes.ts';
import { MODEL_LIST_ROUTES } from './routes/admin/model-list-routes.ts';
import { MONEY_ROUTES } from './routes/admin/money-routes.ts';
import { OVERVIEW_ROUTES } from './routes/admin/overview-routes.ts';
import { PEOPLE_ROUTES } from './routes/admin/people-routes.ts';
import { PRICE_ROUTES } from './routes/admin/price-routes.ts';
import { SECRET_ROUTES } from './routes/admin/secret-routes.ts';
import { SETTINGS_ROUTES } from './routes/admin/settings-routes.ts';
import { USAGE_ROUTES } from './routes/admin/usage-routes.ts';
import { OIDC_ROUTES } from './routes/console/oidc-routes.ts';
import { OWN_ACCOUNT_ROUTES } from './routes/console/own-account-routes.ts';
import { PAGE_ROUTES } from './routes/console/page-routes.ts';
import { PASSKEY_ROUTES } from './routes/console/passkey-routes.ts';
import { PLAYGROUND_ROUTES } from './routes/console/playground-routes.ts';
import { PROFILE_ROUTES } from './routes/console/profile-routes.ts';
import { REGISTRATION_ROUTES } from './routes/console/registration-routes.ts';
import { SESSION_ROUTES } from './routes/console/session-routes.ts';
import { BILLING_ROUTES } from './routes/public/billing-routes.ts';
import { OWN_CALL_ROUTES } from './routes/public/call-routes.ts';
import { COUNT_ROUTES } from './routes/public/count-routes.ts';
import { FILE_ROUTES } from './routes/public/file-routes.ts';
import { GoogleQuery, googlePaths } from './routes/public/google-path.ts';
import { MODEL_ROUTES } from './routes/public/model-routes.ts';
import { RESPONSE_ROUTES } from './routes/public/response-routes.ts';
import { VIDEO_ROUTES } from './routes/public/video-routes.ts';
import { STATUS_ROUTES } from './routes/status/status-routes.ts';

export const RELAYED_ROUTES: readonly RelayedRoute[] = [
  {
    method: 'POST',
    path: '/v1/chat/completions',
    dialect: 'openai-chat',
    gate: 'caller',
    carriers: {},
    summary: 'Generates the next message of a conversation. Returns one response or a stream of server-sent events.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/completions',
    dialect: 'openai-completions',
    gate: 'caller',
    carriers: {},
    summary: 'Completes a text. Returns one response or a stream of server-sent events.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/messages',
    dialect: 'anthropic-messages',
    gate: 'caller',
    carriers: { anthropic: true },
    summary:
      'Generates the next message of a conversation in the messages format, streaming or not. Needs the header `anthropic-version`.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/responses',
    dialect: 'openai-responses',
    gate: 'caller',
    carriers: {},
    summary: 'Generates a response in the Responses format. Returns one response or a stream of server-sent events.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/responses/compact',
    dialect: 'openai-responses-compact',
    gate: 'caller',
    carriers: {},
    summary: "Compacts a conversation: the model reduces it to the user's messages and a compaction item.",
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/images/generations',
    dialect: 'openai-images',
    gate: 'caller',
    carriers: {},
    uploads: true,
    summary:
      'Generates images, in one of two request formats. Streaming sends partial images first if the model supports them.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/images/edits',
    reading: { shown: '/v1/images/edits', read: () => ({ action: 'edits' }) },
    dialect: 'openai-images',
    gate: 'caller',
    carriers: {},
    uploads: true,
    summary: 'Edits images, sent as a form or in JSON.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/embeddings',
    dialect: 'openai-embeddings',
    gate: 'caller',
    carriers: {},
    summary: 'Computes embeddings of texts, as numbers or as base64 of little-endian float32.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/engines/:model{.+}/embeddings',
    dialect: 'openai-embeddings',
    gate: 'caller',
    carriers: {},
    summary: 'Computes embeddings of texts; the body repeats the model of the path.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/audio/speech',
    dialect: 'openai-speech',
    gate: 'caller',
    carriers: {},
    summary: 'Generates speech from text: audio bytes while they are generated, or server-sent events.',
    query: NO_QUERY,
    body: undefined,
  },
  ...['transcriptions', 'translations'].map(
    (action): RelayedRoute => ({
      method: 'POST',
      path: `/v1/audio/${action}`,
      reading: { shown: `/v1/audio/${action}`, read: () => ({ action }) },
      dialect: 'openai-transcriptions',
      gate: 'caller',
      carriers: {},
      summary:
        action === 'transcriptions'
          ? 'Transcribes an audio file sent as a form. Returns JSON, text, subtitles or server-sent events.'
          : 'Translates the speech of an audio file sent as a form into English. Returns JSON, text, subtitles or server-sent events.',
      query: NO_QUERY,
      body: undefined,
      uploads: true,
    }),
  ),
  {
    method: 'POST',
    path: '/v1/moderations',
    dialect: 'openai-moderations',
    gate: 'caller',
    carriers: {},
    summary: 'Classifies texts and images by categories of harm.',
    query: NO_QUERY,
    body: undefined,
  },
  ...['/v1/rerank', '/v2/rerank'].map(
    (path): RelayedRoute => ({
      method: 'POST',
      path,
      dialect: 'rerank',
      gate: 'caller',
      carriers: {},
      summary: 'Ranks documents by relevance to a query.',
      query: NO_QUERY,
      body: undefined,
    }),
  ),
  ...embedRoutes('embedContent', 'gemini-embed', 'Computes the embedding of one text.'),
  ...embedRoutes('batchEmbedContents', 'gemini-batch-embed', 'Computes embeddings of texts.'),
  ...generateRoutes('streamGenerateContent', 'Generates content in the generateContent format, as a stream.'),
  // Last, because the dialect refuses every unknown action.
  ...generateRoutes('generateContent', 'Generates content in the generateContent format.'),
];

function embedRoutes(action: string, dialect: string, summary: string): RelayedRoute[] {
  return googlePaths(action, (requested) => requested === action).map((place) => ({
    method: 'POST',
    ...place,
    dialect,
    gate: 'caller',
    carriers: { google: true },
    summary,
    query: GoogleQuery,
    body: undefined,
  }));
}

function generateRoutes(action: 'generateContent' | 'streamGenerateContent', summary: string): RelayedRoute[] {
  const takes = (requested: string) => action === 'generateContent' || requested === action;
  return googlePaths(action, takes).map((place) => ({
    method: 'POST',
    ...place,
    dialect: 'gemini',
    gate: 'caller',
    carriers: { google: true },
    summary,
    query: GoogleQuery,
    body: undefined,
  }));
}

export const ANSWERED_ROUTES: readonly AnsweredRoute[] = [
  ...STATUS_ROUTES,
  ...MODEL_ROUTES,
  ...COUNT_ROUTES,
  ...RESPONSE_ROUTES,
  ...VIDEO_ROUTES,
  ...FILE_ROUTES,
  ...BILLING_ROUTES,
  ...OWN_CALL_ROUTES,
  ...ACCOUNT_ROUTES,
  ...MONEY_ROUTES,
  ...EXPLAIN_ROUTES,
  ...HEALTH_ROUTES,
  ...ALERT_ROUTES,
  ...KEY_ROUTES,
  ...AUDIT_ROUTES,
  ...PRICE_ROUTES,
  ...MODEL_LIST_ROUTES,
  ...CATALOG_ROUTES,
  ...SECRET_ROUTES,
  ...CALL_ROUTES,
  ...USAGE_ROUTES,
  ...OVERVIEW_ROUTES,
  ...LEDGER_ROUTES,
  ...PEOPLE_ROUTES,
  ...SETTINGS_ROUTES,
];

/** Served if there is a console. */
export const CONSOLE_ROUTES: readonly AnsweredRoute[] = [
  ...SESSION_ROUTES,
  ...OIDC_ROUTES,
  ...REGISTRATION_ROUTES,
  ...PROFILE_ROUTES,
  ...PASSKEY_ROUTES,
  ...OWN_ACCOUNT_ROUTES,
  ...PLAYGROUND_ROUTES,
  ...PAGE_ROUTES,
];
