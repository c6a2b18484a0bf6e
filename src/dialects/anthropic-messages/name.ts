/** The format's name, as other rooms know it. */
export const ANTHROPIC_MESSAGES = 'anthropic-messages';
