/** The format's name, as other modules know it. */
export const OPENAI_COMPLETIONS = 'openai-completions';
