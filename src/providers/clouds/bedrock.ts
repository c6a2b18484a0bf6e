/** Amazon Bedrock's runtime: Claude in its own format, all other models with Converse. */

import { joinUrl } from '../chat/openai-compatible.ts';
import { CLAUDE_PREFILL } from '../claude-prefill.ts';
import type { Provider } from '../provider.ts';
import { authorizeByAws } from './aws-signature.ts';
import { MESSAGES_IN_FRAMES } from './bedrock-frames.ts';

/** A member of the body. Anthropic itself has a header for it. */
const VERSION = 'bedrock-2023-05-31';
const MESSAGES = 'anthropic-messages';
/**
 * Model ids, and the inference profiles that AWS names after them. The name of an operator's own profile does not reveal
 * the model.
 */
const CLAUDE = /anthropic\.claude/;

export const bedrock: Provider = {
  name: 'bedrock',
  credentialVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  credentialVariables: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
  credentialSetting: 'secretAccessKey',
  settingVariables: { region: ['AWS_REGION', 'AWS_DEFAULT_REGION'] },
  needsCredential: true,
  addressOf: ({ region }) =>
    region && `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`,
  speaks: { chat: [MESSAGES, 'bedrock-converse'] },
  serves: ({ model, settings }, dialect) =>
    (dialect === MESSAGES) === (CLAUDE.test(model) || settings.speaks === MESSAGES),
  url({ baseUrl, model }, dialect, { stream }) {
    const [whole, streamed] =
      dialect === MESSAGES ? ['invoke', 'invoke-with-response-stream'] : ['converse', 'converse-stream'];
    return joinUrl(baseUrl, `/model/${encodeURIComponent(model)}/${stream ? streamed : whole}`);
  },
  members({ settings }, dialect, { headers }) {
    const { guardrail, guardrailVersion = 'DRAFT' } = settings;
    if (dialect !== MESSAGES) {
      const guardrailConfig = guardrail && { guardrailIdentifier: guardrail, guardrailVersion };
      return guardrailConfig ? { guardrailConfig } : {};
    }
    const betas = headers['anthropic-beta']?.split(',').map((beta) => beta.trim());
    const version = { anthropic_version: VERSION, ...(betas && { anthropic_beta: betas }) };
    return { model: undefined, stream: undefined, ...version };
  },
  quirks: { supportsMediaUrls: [], models: [CLAUDE_PREFILL] },
  framings: { [MESSAGES]: MESSAGES_IN_FRAMES },
  authorize(outgoing, target, { now }) {
    delete outgoing.headers['anthropic-version'];
    delete outgoing.headers['anthropic-beta'];
    return authorizeByAws(outgoing, target, 'bedrock', now());
  },
};
