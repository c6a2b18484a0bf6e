/** Amazon Bedrock's second endpoint ("mantle"), which serves the formats of OpenAI and Anthropic. */

import { joinUrl, pathOf } from '../chat/openai-compatible.ts';
import type { Provider } from '../provider.ts';
import { authorizeByAws } from './aws-signature.ts';

const MESSAGES = 'anthropic-messages';
const VERSION = '2023-06-01';
const CLAUDE = /^anthropic\./;
/** OpenAI's own models have a path of their own and only Responses. */
const OPENAI_OWN = /^openai\.gpt-\d/;

export const bedrockMantle: Provider = {
  name: 'bedrock-mantle',
  credentialSetting: 'secretAccessKey',
  needsCredential: true,
  addressOf: ({ region }) => region && `https://bedrock-mantle.${region}.api.aws`,
  speaks: { chat: ['openai-chat', 'openai-responses', MESSAGES] },
  only: {
    [MESSAGES]: CLAUDE,
    'openai-chat': /^(?!anthropic\.|openai\.gpt-\d)/,
    'openai-responses': /^(?!anthropic\.)/,
  },
  url({ baseUrl, model }, dialect) {
    if (dialect === MESSAGES) return joinUrl(baseUrl, '/anthropic/v1/messages');
    return joinUrl(baseUrl, `${OPENAI_OWN.test(model) ? '/openai/v1' : '/v1'}${pathOf(dialect)}`);
  },
  authorize(outgoing, target, { now }) {
    if (outgoing.url.endsWith('/messages')) outgoing.headers['anthropic-version'] ??= VERSION;
    return authorizeByAws(outgoing, target, 'bedrock-mantle', now());
  },
  quirks: { supportsDeveloperRole: false, reasoningField: 'reasoning' },
};
