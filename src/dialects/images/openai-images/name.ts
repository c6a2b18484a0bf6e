/** This format's name in the table. */
export const OPENAI_IMAGES = 'openai-images';
