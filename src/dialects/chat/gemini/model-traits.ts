/** What a model takes, told from its name: each generation asks for its thinking in another way. */

export interface ModelTraits {
  /** How thinking is asked for: not at all, by a budget of tokens, or by a level. */
  thinking: 'none' | 'budget' | 'level';
  /** The smaller and the larger sister differ in what they can switch off. */
  family: 'pro' | 'flash' | 'flash-lite';
  /** Calls in the conversation must bear proofs. */
  wantsProofs: boolean;
  /** It packs what it speaks as asked, and is told beside the text how to speak it. */
  packsSpeech: boolean;
  /** Images inside a tool's result, and search beside functions. */
  isModern: boolean;
}

const VERSION = /gemini-(?:[a-z]+-)*(\d+)(?:\.(\d+))?/;
const NEWEST = 99;
const remembered = new Map<string, ModelTraits>();
// Upstream names come from the configuration; the bound only guards against names that are made up.
const MAX_REMEMBERED = 1000;

export function traitsOf(model: string): ModelTraits {
  let traits = remembered.get(model);
  if (!traits) {
    traits = traitsFromName(model.toLowerCase());
    if (remembered.size < MAX_REMEMBERED) remembered.set(model, traits);
  }
  return traits;
}

/** A name without a number (`gemini-flash-latest`, an endpoint of one's own) means the newest. */
function traitsFromName(model: string): ModelTraits {
  const match = VERSION.exec(model);
  const isOther = /gemma|learnlm|palm/.test(model);
  const version = isOther ? 1 : match ? Number(match[1]) + Number(match[2] ?? 0) / 10 : NEWEST;
  return {
    thinking: version >= 3 ? 'level' : version >= 2.5 ? 'budget' : 'none',
    family: model.includes('flash-lite') ? 'flash-lite' : model.includes('pro') ? 'pro' : 'flash',
    wantsProofs: version >= 3,
    packsSpeech: version >= 3.8,
    isModern: version >= 3,
  };
}
