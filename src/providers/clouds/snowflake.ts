/** Snowflake Cortex. Each account has its own address: `…/api/v2/cortex/v1`. */
import { openaiCompatibleProvider } from '../chat/openai-compatible.ts';

export const snowflake = openaiCompatibleProvider({
  name: 'snowflake',
  credentialVariable: 'SNOWFLAKE_PAT',
  baseUrlVariable: 'SNOWFLAKE_BASE_URL',
  quirks: { renames: { max_tokens: 'max_completion_tokens' }, reasoningField: 'reasoning_details' },
});
