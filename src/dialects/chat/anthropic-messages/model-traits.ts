/** What a model takes, told from its name: the format has grown, and each model refuses what its generation does not know. */
import type { Effort } from '../../../canonical/call.ts';

export interface ModelTraits {
  /** How thinking is asked for: not at all, by a budget, by either, or by effort alone. */
  thinking: 'none' | 'budget' | 'either' | 'adaptive';
  /** The words `output_config.effort` takes. */
  efforts: readonly Effort[];
  /** Temperature, `top_p` and `top_k`: all, not the first two together, or none. */
  sampling: 'any' | 'one' | 'none';
  /** `output_config.format` and strict tools. */
  structuredOutput: boolean;
  /** System turns in the middle of a conversation. */
  systemTurns: boolean;
  maxOutputTokens?: number;
}

/** Other providers' models behind this format know its oldest part best. */
const STRANGER: ModelTraits = {
  thinking: 'budget',
  efforts: [],
  sampling: 'any',
  structuredOutput: false,
  systemTurns: false,
};

const NEWEST = 9999;
const FAMILY_FIRST = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;
const VERSION_FIRST = /claude-(\d)(?:[-.](\d))?-([a-z]+)/;
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

function traitsFromName(model: string): ModelTraits {
  if (!model.includes('claude')) return STRANGER;
  const modern = FAMILY_FIRST.exec(model);
  if (modern) return traitsOfVersion(versionOf(modern[2], modern[3]), modern[1] ?? '');
  const early = VERSION_FIRST.exec(model);
  if (early) return traitsOfVersion(versionOf(early[1], early[2]), early[3] ?? '');
  return traitsOfVersion(/claude-(v?[12]\b|instant)/.test(model) ? 0 : NEWEST, '');
}

function versionOf(major: string | undefined, minor: string | undefined): number {
  return Number(major) * 100 + Number(minor ?? 0);
}

function traitsOfVersion(version: number, family: string): ModelTraits {
  const maxOutputTokens = maxOutputOf(version, family);
  return {
    thinking: version < 307 ? 'none' : version < 406 ? 'budget' : version < 407 ? 'either' : 'adaptive',
    efforts: effortsOf(version),
    sampling: version >= 407 ? 'none' : version >= 401 ? 'one' : 'any',
    structuredOutput: version >= 401,
    systemTurns: version >= 408,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
}

function effortsOf(version: number): readonly Effort[] {
  if (version < 406) return [];
  return version < 407 ? ['low', 'medium', 'high', 'max'] : ['low', 'medium', 'high', 'xhigh', 'max'];
}

/** Of the newest models it is left to the provider. */
function maxOutputOf(version: number, family: string): number | undefined {
  if (version < 305) return 4096;
  if (version < 307) return 8192;
  if (version < 405) return family === 'opus' ? 32_000 : 64_000;
  if (version < 407) return version === 406 && family === 'opus' ? 128_000 : 64_000;
  return undefined;
}
