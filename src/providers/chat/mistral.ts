/** Mistral. It rejects every unknown member. */
import { openaiCompatibleProvider } from './openai-compatible.ts';

export const mistral = openaiCompatibleProvider({
  name: 'mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  credentialVariable: 'MISTRAL_API_KEY',
  transcription: {
    transcripts: 'segments',
    renames: { 'timestamp_granularities[]': 'timestamp_granularities' },
    rejects: ['prompt', 'include[]', 'chunking_strategy'],
  },
  speech: {
    supportsSpeechEvents: 'stream',
    returnsFloatSamples: true,
    renames: { voice: 'voice_id' },
    rejects: ['speed'],
  },
  moderation: {},
  embeddings: { supportsEncodingFormat: false, renames: { dimensions: 'output_dimension' }, rejects: ['user'] },
  quirks: {
    renames: { max_completion_tokens: 'max_tokens', seed: 'random_seed' },
    rejects: [
      'audio',
      'logit_bias',
      'logprobs',
      'modalities',
      'prompt_cache_options',
      'prompt_cache_retention',
      'safety_identifier',
      'service_tier',
      'store',
      'stream_options',
      'top_logprobs',
      'user',
      'verbosity',
      'web_search_options',
    ],
    rejectsInMessages: [
      'name',
      'refusal',
      'reasoning_content',
      'reasoning',
      'reasoning_details',
      'annotations',
      'audio',
    ],
    streamUsage: 'always',
    requiresToolCallIds: 'nine-alphanumeric',
    reasoningField: 'thinking-parts',
    // https://docs.mistral.ai/guides/prefix: the reply has the prefix in it.
    supportsPrefill: 'echo',
  },
});
