/** The format's name, as other modules know it. */
export const ANTHROPIC_MESSAGES = 'anthropic-messages';
