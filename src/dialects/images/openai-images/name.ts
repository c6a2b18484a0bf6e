/** The name of this format. */
export const OPENAI_IMAGES = 'openai-images';
