/** Capabilities of a model, by its name. Each generation has different members for thinking. */
import { rememberedByName } from '../request/model-traits.ts';

export interface GeminiModelTraits {
  /** How thinking is requested: not at all, with a token budget, or with a level. */
  thinking: 'none' | 'budget' | 'level';
  /** The families differ in whether thinking can be turned off. */
  family: 'pro' | 'flash' | 'flash-lite';
  /** Tool calls in the conversation must have signatures. */
  wantsSignatures: boolean;
  /** Encodes audio in the requested format, and takes speech instructions separately from the text. */
  packsSpeech: boolean;
  /** Accepts images in tool results, and web search together with functions. */
  isModern: boolean;
}

const VERSION = /gemini-(?:[a-z]+-)*(\d+)(?:\.(\d+))?/;
const NEWEST = 99;

export const traitsOf = rememberedByName(traitsFromName);

/** A name without a version (`gemini-flash-latest`, a custom endpoint) means the newest model. */
function traitsFromName(model: string): GeminiModelTraits {
  const match = VERSION.exec(model);
  const isOther = /gemma|learnlm|palm/.test(model);
  const version = isOther ? 1 : match ? Number(match[1]) + Number(match[2] ?? 0) / 10 : NEWEST;
  return {
    thinking: version >= 3 ? 'level' : version >= 2.5 ? 'budget' : 'none',
    family: model.includes('flash-lite') ? 'flash-lite' : model.includes('pro') ? 'pro' : 'flash',
    wantsSignatures: version >= 3,
    packsSpeech: version >= 3.8,
    isModern: version >= 3,
  };
}
