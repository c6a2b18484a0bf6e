/** The names of the chat formats, in calls, signatures, extras and logs. */
export const ANTHROPIC_MESSAGES = 'anthropic-messages';
export const BEDROCK_CONVERSE = 'bedrock-converse';
export const GEMINI = 'gemini';
export const OPENAI_CHAT = 'openai-chat';
export const OPENAI_COMPLETIONS = 'openai-completions';
export const OPENAI_RESPONSES = 'openai-responses';
