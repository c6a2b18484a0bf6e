/** Anthropic. */

import { CLAUDE_PREFILL } from '../claude-prefill.ts';
import type { Provider } from '../provider.ts';
import { joinUrl } from './openai-compatible.ts';

/** This version supports everything that older models do. The client's own header takes precedence. */
const VERSION = '2023-06-01';
/** The official library's base URL has no version; others have one. */
const VERSIONED = /\/v\d+\/?$/;

export const anthropic: Provider = {
  name: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  credentialVariable: 'ANTHROPIC_API_KEY',
  needsCredential: true,
  speaks: { chat: ['anthropic-messages'] },
  quirks: { models: [CLAUDE_PREFILL] },
  url: ({ baseUrl }) => versioned(baseUrl, '/messages'),
  // Without a limit a page has 20 models.
  modelsUrl: (baseUrl) => versioned(baseUrl, '/models?limit=1000'),
  authorize({ headers }, { credential }) {
    headers['anthropic-version'] ??= VERSION;
    if (credential !== undefined) headers['x-api-key'] = credential;
  },
};

function versioned(baseUrl: string, path: string): string {
  return joinUrl(baseUrl, VERSIONED.test(baseUrl) ? path : `/v1${path}`);
}
