/** The sandbox's moderation: a text is flagged for the words it contains. */
import { GatewayError } from '../canonical/errors.ts';
import { isObject, type Json, type JsonObject } from '../canonical/json.ts';

export const MODERATION_MODEL = 'sandbox-moderation';

/** OpenAI's categories, with a few words for each. */
const WORDS: { readonly [category: string]: readonly string[] } = {
  harassment: ['idiot', 'loser', 'moron'],
  'harassment/threatening': ['threaten', 'beat you'],
  hate: ['hate speech', 'subhuman'],
  'hate/threatening': ['exterminate'],
  illicit: ['counterfeit', 'launder', 'smuggle'],
  'illicit/violent': ['bomb', 'explosive'],
  'self-harm': ['self-harm', 'suicide'],
  'self-harm/instructions': ['how to cut myself'],
  'self-harm/intent': ['kill myself'],
  sexual: ['nude', 'porn', 'sex'],
  'sexual/minors': ['underage'],
  violence: ['kill', 'murder', 'stab'],
  'violence/graphic': ['behead', 'gore'],
};
/** One word is enough; more words raise the score. */
const DOUBT = 0.2;
const FLAGGED_FROM = 0.5;
const MOST_TEXTS = 1000;
const MOST_CHARACTERS = 1_000_000;

export interface ModerationRequest {
  /** The texts of one input. */
  texts: string[];
}

/** Each text is one input; the texts and images of a message are one input together. Images are ignored. */
export function readModeration({ model, input }: JsonObject): ModerationRequest {
  if (model !== MODERATION_MODEL)
    throw new GatewayError('model_not_found', `The model \`${model}\` does not exist.`, { param: 'model' });
  if (typeof input === 'string') return bounded([input]);
  if (!Array.isArray(input) || input.length === 0)
    throw new GatewayError('invalid_request', '`input` must be a text or a list.', { param: 'input' });
  if (input.every((one): one is string => typeof one === 'string')) return bounded(input);
  return bounded([input.map(textOf).join('\n')]);
}

function bounded(texts: string[]): ModerationRequest {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (texts.length <= MOST_TEXTS && characters <= MOST_CHARACTERS) return { texts };
  const sentence = `\`input\` must hold at most ${MOST_TEXTS} texts of ${MOST_CHARACTERS} characters together.`;
  throw new GatewayError('invalid_request', sentence, { param: 'input' });
}

function textOf(part: Json): string {
  return isObject(part) && typeof part.text === 'string' ? part.text : '';
}

export function moderationReply({ texts }: ModerationRequest, key: string): JsonObject {
  return { id: `modr-${key}`, model: MODERATION_MODEL, results: texts.map(judge) };
}

function judge(text: string): JsonObject {
  const scores = Object.entries(WORDS).map(([category, words]) => [category, scoreOf(text, words)] as const);
  const flags = scores.map(([category, score]) => [category, score >= FLAGGED_FROM] as const);
  return {
    flagged: flags.some(([, flagged]) => flagged),
    categories: Object.fromEntries(flags),
    category_scores: Object.fromEntries(scores),
    category_applied_input_types: Object.fromEntries(scores.map(([category]) => [category, ['text']])),
  };
}

/** From 0 to 1, both exclusive. */
function scoreOf(text: string, words: readonly string[]): number {
  const hits = words.reduce((sum, word) => sum + (text.match(new RegExp(`\\b${word}`, 'gi'))?.length ?? 0), 0);
  return hits / (hits + DOUBT);
}
