/** Members of image requests that many models reject. */

/** How the image is generated and returned: members of OpenAI's newest image models, and two of other providers. */
export const OUTPUT_SETTINGS: readonly string[] = [
  'background',
  'output_format',
  'output_compression',
  'stream',
  'partial_images',
  'negative_prompt',
  'seed',
];
