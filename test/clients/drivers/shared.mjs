// What the drivers share.

/** A prompt is a text or a list of parts. */
export const contentOf = (prompt, toPart) => (typeof prompt === 'string' ? prompt : prompt.map(toPart));

/** The part's URL, or its bytes as one. */
export const addressOf = ({ url, mediaType, data }) => url ?? `data:${mediaType};base64,${data}`;

/** OpenAI's formats differ in the names of the two sides: `prompt` and `completion`, or `input` and `output`. */
export const openaiUsage = (usage, input, output) => ({
  input: usage[`${input}_tokens`],
  output: usage[`${output}_tokens`],
  cachedInput: usage[`${input}_tokens_details`]?.cached_tokens ?? 0,
  reasoning: usage[`${output}_tokens_details`]?.reasoning_tokens ?? 0,
});
