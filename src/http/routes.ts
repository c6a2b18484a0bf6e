/** The route table: what is handed to the gateway, in which dialect, and what the edge answers itself. */

import type { AnsweredRoute, RelayedRoute } from './route.ts';
import { NO_QUERY } from './route.ts';
import { ACCOUNT_ROUTES } from './routes/admin/account-routes.ts';
import { AUDIT_ROUTES } from './routes/admin/audit-routes.ts';
import { CALL_ROUTES } from './routes/admin/call-routes.ts';
import { CATALOG_ROUTES } from './routes/admin/catalog-routes.ts';
import { KEY_ROUTES } from './routes/admin/key-routes.ts';
import { LEDGER_ROUTES } from './routes/admin/ledger-routes.ts';
import { MONEY_ROUTES } from './routes/admin/money-routes.ts';
import { SECRET_ROUTES } from './routes/admin/secret-routes.ts';
import { BILLING_ROUTES } from './routes/public/billing-routes.ts';
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
    summary: 'Answers a conversation, whole or as a stream of server-sent events.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/completions',
    dialect: 'openai-completions',
    gate: 'caller',
    carriers: {},
    summary: 'Completes a text, whole or as a stream of server-sent events.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/messages',
    dialect: 'anthropic-messages',
    gate: 'caller',
    carriers: { anthropic: true },
    summary: 'Answers a conversation in the messages format, whole or streamed; needs a header `anthropic-version`.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/responses',
    dialect: 'openai-responses',
    gate: 'caller',
    carriers: {},
    summary: 'Answers a conversation in the Responses format, whole or as a stream of server-sent events.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/responses/compact',
    dialect: 'openai-responses-compact',
    gate: 'caller',
    carriers: {},
    summary: "Compacts a conversation into the user's messages and a compaction item, by the model itself.",
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
      'Generates images, in one of two request shapes. Streaming sends partial images first where the model has them.',
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
    summary: 'Changes images, sent as a form or in JSON.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/embeddings',
    dialect: 'openai-embeddings',
    gate: 'caller',
    carriers: {},
    summary: 'Turns texts into vectors, as numbers or as base64 of little-endian float32.',
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/engines/:model{.+}/embeddings',
    dialect: 'openai-embeddings',
    gate: 'caller',
    carriers: {},
    summary: "Turns texts into vectors; the body names the path's model again.",
    query: NO_QUERY,
    body: undefined,
  },
  {
    method: 'POST',
    path: '/v1/audio/speech',
    dialect: 'openai-speech',
    gate: 'caller',
    carriers: {},
    summary: 'Speaks a text: the audio as it comes, or in server-sent events.',
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
        'Writes down what is said in an audio file, sent as a form; as JSON, text, subtitles or server-sent events.',
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
    summary: 'Judges texts and images by categories of harm.',
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
      summary: 'Puts documents in the order in which they answer a query.',
      query: NO_QUERY,
      body: undefined,
    }),
  ),
  ...embedRoutes('embedContent', 'gemini-embed', 'Turns one text into a vector.'),
  ...embedRoutes('batchEmbedContents', 'gemini-batch-embed', 'Turns texts into vectors.'),
  ...generateRoutes('streamGenerateContent', 'Answers a conversation in the generateContent format, as a stream.'),
  // Its rows come last: an action that nobody knows is refused by the dialect.
  ...generateRoutes('generateContent', 'Answers a conversation in the generateContent format.'),
];

function embedRoutes(action: string, dialect: string, summary: string): RelayedRoute[] {
  return googlePaths(action, (asked) => asked === action).map((place) => ({
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
  const takes = (asked: string) => action === 'generateContent' || asked === action;
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
  ...ACCOUNT_ROUTES,
  ...MONEY_ROUTES,
  ...KEY_ROUTES,
  ...AUDIT_ROUTES,
  ...CATALOG_ROUTES,
  ...SECRET_ROUTES,
  ...CALL_ROUTES,
  ...LEDGER_ROUTES,
];
