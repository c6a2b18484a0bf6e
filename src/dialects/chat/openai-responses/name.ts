/** The dialect's name, as calls, seals and extras carry it. */
export const OPENAI_RESPONSES = 'openai-responses';
