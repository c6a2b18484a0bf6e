/** Anthropic. */

import type { Provider } from '../provider.ts';
import { joinUrl } from './openai-compatible.ts';

/** Still takes all that older models take; a client's own choice goes before. */
const VERSION = '2023-06-01';
/** The official library's address ends before the version, others' with it. */
const VERSIONED = /\/v\d+\/?$/;

export const anthropic: Provider = {
  name: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  credentialVariable: 'ANTHROPIC_API_KEY',
  needsCredential: true,
  speaks: { chat: ['anthropic-messages'] },
  url: ({ baseUrl }) => joinUrl(baseUrl, VERSIONED.test(baseUrl) ? '/messages' : '/v1/messages'),
  authorize({ headers }, { credential }) {
    headers['anthropic-version'] ??= VERSION;
    if (credential !== undefined) headers['x-api-key'] = credential;
  },
};
