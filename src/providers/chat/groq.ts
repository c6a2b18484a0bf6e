/** Groq. */
import { openaiCompatibleProvider } from './openai-compatible.ts';

export const groq = openaiCompatibleProvider({
  name: 'groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  credentialVariable: 'GROQ_API_KEY',
  responses: true,
  transcription: { rejects: ['stream', 'include[]', 'chunking_strategy'] },
  speech: { supportsSpeechEvents: 'never', rejects: ['instructions'] },
  quirks: {
    fixed: { n: 1 },
    rejects: ['logprobs', 'top_logprobs', 'logit_bias'],
    rejectsInMessages: ['name'],
    reasoningField: 'reasoning',
  },
});
