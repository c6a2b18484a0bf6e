/** What OpenAI's models reject, on every host. */

import type { Quirks } from '../../dialects/shared/quirks.ts';
import { OUTPUT_SETTINGS } from './image-settings.ts';

/** Sampling settings that reasoning models accept only at their defaults. */
const UNSAMPLED = {
  fixed: { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, logprobs: false },
  rejects: ['top_logprobs', 'logit_bias'],
} satisfies Quirks;

export const OPENAI_MODELS = [
  { match: '^(o\\d|gpt-([5-9]|\\d\\d)(?!.*-chat))', quirks: { renames: { max_tokens: 'max_completion_tokens' } } },
  { match: '^gpt-(5\\.[6-9]|[6-9]|\\d\\d)', quirks: { supportsCacheBreakpoints: true } },
  // Versions 5.1 to 5.5 accept sampling unless reasoning is on, so it depends on the request.
  { match: '^(o\\d|gpt-5(?!\\.[1-5])|gpt-([6-9]|\\d\\d))(?!.*-chat)', quirks: UNSAMPLED },
  { match: '^(o3(?!-mini)|o4|gpt-5(?!\\.[1-5])|gpt-([6-9]|\\d\\d))(?!.*-chat)', quirks: { rejects: ['stop'] } },
  {
    match: '-search-(preview|api)',
    quirks: { rejects: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'n'] },
  },
] satisfies Quirks['models'];

const COMPLETIONS = 'gpt-3\\.?5-turbo-instruct|(ft:)?(davinci|babbage)-002';
/** Models that accept tools only in Responses, or that exist only there. */
const RESPONSES = 'gpt-6-astra|gpt-6\\.1-sol|(o1|o3|gpt-[5-9](\\.\\d)?)-pro|.*(codex|-deep-research)|computer-use';
/** Models that only generate images. */
const IMAGES = '(chatgpt|gpt)-image|dall-e';
/** Models for audio and search exist only in chat completions. */
const CHAT = 'gpt-4o-(mini-)?audio|gpt-audio|.*-search-(preview|api)';

/** The only models that OpenAI serves as text completions. */
const OPENAI_COMPLETIONS_ONLY = {
  'openai-completions': new RegExp(`^(${COMPLETIONS})`),
  'openai-chat': new RegExp(`^(?!${COMPLETIONS})`),
};

/** Models that accept tools in chat completions only without reasoning. Their calls with tools go to Responses. */
export const OPENAI_UNTHINKING_TOOLS = {
  'openai-chat': { thinks: /^gpt-([6-9]|\d\d)(?!.*-chat)/, mayThink: /^gpt-5\.[4-9](?!.*-chat)/ },
};

const ON_RESPONSES = new RegExp(`^(?!${COMPLETIONS}|${CHAT}|${IMAGES})`);

/** Restrictions per dialect, for a host that serves Responses too. */
export const OPENAI_ONLY = {
  'openai-completions': OPENAI_COMPLETIONS_ONLY['openai-completions'],
  'openai-chat': new RegExp(`^(?!${COMPLETIONS}|${RESPONSES}|${IMAGES})`),
  'openai-responses': ON_RESPONSES,
  'openai-responses-compact': ON_RESPONSES,
};

/** The image sizes and members of OpenAI's models. */
export const OPENAI_IMAGE_MODELS = {
  supportsMediaUrls: ['image'],
  requiresEditForm: 'files',
  models: [
    {
      match: '(chatgpt|gpt)-image',
      quirks: { rejects: ['response_format', 'style', 'negative_prompt', 'seed'], maxImagesPerCall: 10 },
    },
    {
      match: 'chatgpt-image|gpt-image-1',
      quirks: { supportsImageSizes: ['1024x1024', '1536x1024', '1024x1536'] },
    },
    {
      match: 'gpt-image-([2-9]|\\d\\d)',
      quirks: { supportsImageBounds: { grid: 16, mostRatio: 3, mostSide: 3840, least: 655_360, most: 8_294_400 } },
    },
    {
      match: '^dall-e-3',
      quirks: {
        rejects: OUTPUT_SETTINGS,
        supportsImageSizes: ['1024x1024', '1792x1024', '1024x1792'],
        maxImagesPerCall: 1,
      },
    },
    {
      match: '^dall-e-2',
      quirks: {
        rejects: ['quality', 'style', ...OUTPUT_SETTINGS],
        supportsImageSizes: ['256x256', '512x512', '1024x1024'],
        requiresEditForm: true,
      },
    },
  ],
} satisfies Quirks;

/** The first speech models have no events. Of the others, only the events report tokens. */
export const OPENAI_SPEECH = {
  supportsSpeechEvents: 'priced',
  models: [{ match: '^tts-1', quirks: { supportsSpeechEvents: 'never' } }],
} satisfies Quirks;
