/** OpenAI. */

import type { Provider } from '../provider.ts';
import { openaiVideo } from '../video/openai-video.ts';
import { authorizeByBearer, openaiCompatibleProvider } from './openai-compatible.ts';
import {
  OPENAI_IMAGE_MODELS,
  OPENAI_MODELS,
  OPENAI_ONLY,
  OPENAI_SPEECH,
  OPENAI_UNTHINKING_TOOLS,
} from './openai-models.ts';

export const openai: Provider = {
  ...openaiCompatibleProvider({
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    credentialVariable: 'OPENAI_API_KEY',
    completions: true,
    responses: true,
    compacts: true,
    images: OPENAI_IMAGE_MODELS,
    embeddings: {},
    speech: OPENAI_SPEECH,
    transcription: {},
    moderation: {},
    only: OPENAI_ONLY,
    unthinkingTools: OPENAI_UNTHINKING_TOOLS,
    quirks: {
      supportsDeveloperRole: true,
      supportsFreeTextTools: true,
      reasoningField: 'none',
      models: OPENAI_MODELS,
    },
  }),
  video: openaiVideo,
  authorize(outgoing, target) {
    authorizeByBearer(outgoing, target);
    const { organization, project } = target.settings;
    if (organization !== undefined) outgoing.headers['openai-organization'] = organization;
    if (project !== undefined) outgoing.headers['openai-project'] = project;
  },
};
