/** The name of this format. */
export const GEMINI = 'gemini';
