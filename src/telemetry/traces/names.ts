/**
 * The names in our spans: the semantic conventions of OpenTelemetry for generative AI (1.37 and later, all of them in development), the
 * attributes that Langfuse reads, and our own.
 */

/** What a call does, by the client's format. */
const OPERATIONS: { readonly [dialect: string]: string } = {
  'openai-completions': 'text_completion',
  gemini: 'generate_content',
  'openai-embeddings': 'embeddings',
  'gemini-embed': 'embeddings',
  'gemini-batch-embed': 'embeddings',
  'openai-images': 'image_generation',
  'openai-speech': 'speech',
  'openai-transcriptions': 'transcription',
  'openai-moderations': 'moderation',
  rerank: 'rerank',
  'openai-videos': 'video_generation',
  'video-generations': 'video_generation',
  'vendor-a': 'video_generation',
  'vendor-b': 'video_generation',
};

export const operationOf = (dialect: string): string => OPERATIONS[dialect] ?? 'chat';

/** `gen_ai.provider.name` by provider type; others have no name in the conventions and keep ours. */
const PROVIDER_NAMES: { readonly [type: string]: string } = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  'bedrock-mantle': 'aws.bedrock',
  google: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  moonshot: 'moonshot_ai',
};

export const providerNameOf = (type: string): string => PROVIDER_NAMES[type] ?? type;

export const ATTRIBUTES = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  /** Read by Langfuse; the conventions have no cost. */
  cost: 'gen_ai.usage.cost',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  errorType: 'error.type',
  status: 'http.response.status_code',
  /** Langfuse adds everything under `gen_ai.usage.` up, so parts of the input and output must not stand there beside their totals. */
  cachedInput: 'modelport.usage.cached_input_tokens',
  cacheWrite: 'modelport.usage.cache_write_tokens',
  reasoning: 'modelport.usage.reasoning_tokens',
  /** JSON: tokens by kind, each counted once. Read by Langfuse instead of `gen_ai.usage.`. */
  langfuseUsage: 'langfuse.observation.usage_details',
  /** Read by Langfuse: when the first token came. */
  langfuseStart: 'langfuse.observation.completion_start_time',
  /** Everything that is no generation: Langfuse otherwise takes every span with a model for one. */
  langfuseType: 'langfuse.observation.type',
  requestId: 'modelport.request.id',
  account: 'modelport.account',
  key: 'modelport.key',
  format: 'modelport.format',
  isStream: 'modelport.stream',
  outcome: 'modelport.outcome',
  providerEntry: 'modelport.provider',
  target: 'modelport.target',
  attempts: 'modelport.attempts',
} as const;
