/** The format's name, as other rooms know it. */
export const OPENAI_COMPLETIONS = 'openai-completions';
