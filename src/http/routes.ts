/** The route table: what is handed to the gateway, in which dialect, and what the edge answers itself. */
import { ACCOUNT_ROUTES } from './account-routes.ts';
import { BILLING_ROUTES } from './billing-routes.ts';
import { CALL_ROUTES } from './call-routes.ts';
import { CATALOG_ROUTES } from './catalog-routes.ts';
import { KEY_ROUTES } from './key-routes.ts';
import { MODEL_ROUTES } from './model-routes.ts';
import { ChatReply, ChatRequest, CompletionReply, CompletionRequest } from './public-schemas.ts';
import type { AnsweredRoute, RelayedRoute } from './route.ts';
import { NO_QUERY } from './route.ts';
import { STATUS_ROUTES } from './status-routes.ts';

export const RELAYED_ROUTES: readonly RelayedRoute[] = [
  {
    method: 'POST',
    path: '/v1/chat/completions',
    dialect: 'openai-chat',
    gate: 'caller',
    carriers: {},
    summary: 'Answers a conversation, whole or as a stream of server-sent events.',
    query: NO_QUERY,
    body: ChatRequest,
    reply: ChatReply,
  },
  {
    method: 'POST',
    path: '/v1/completions',
    dialect: 'openai-completions',
    gate: 'caller',
    carriers: {},
    summary: 'Completes a text, whole or as a stream of server-sent events.',
    query: NO_QUERY,
    body: CompletionRequest,
    reply: CompletionReply,
  },
];

export const ANSWERED_ROUTES: readonly AnsweredRoute[] = [
  ...STATUS_ROUTES,
  ...MODEL_ROUTES,
  ...BILLING_ROUTES,
  ...ACCOUNT_ROUTES,
  ...KEY_ROUTES,
  ...CATALOG_ROUTES,
  ...CALL_ROUTES,
];
