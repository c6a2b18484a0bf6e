/**
 * Capabilities of a model, by its name. Each generation rejects what it does not support (Anthropic API reference,
 * "Models overview").
 */
import type { Effort } from '../../../canonical/call.ts';
import { rememberedByName } from '../request/model-traits.ts';

export interface MessagesModelTraits {
  /** How thinking is requested: not at all, with a budget, with either, or with an effort only. */
  thinking: 'none' | 'budget' | 'either' | 'adaptive';
  /** The values of `output_config.effort`. */
  efforts: readonly Effort[];
  /** Sampling settings: all, only one of temperature and `top_p`, or none. */
  sampling: 'any' | 'one' | 'none';
  /** Whether it supports `output_config.format` and strict tools. */
  structuredOutput: boolean;
  /** Whether it supports system turns inside the conversation. */
  systemTurns: boolean;
  maxOutputTokens?: number;
}

/** Other providers' models behind this format support its oldest features best. */
const STRANGER: MessagesModelTraits = {
  thinking: 'budget',
  efforts: [],
  sampling: 'any',
  structuredOutput: false,
  systemTurns: false,
};

const NEWEST = 9999;
const FAMILY_FIRST = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;
const VERSION_FIRST = /claude-(\d)(?:[-.](\d))?-([a-z]+)/;

export const traitsOf = rememberedByName(traitsFromName);

function traitsFromName(model: string): MessagesModelTraits {
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

function traitsOfVersion(version: number, family: string): MessagesModelTraits {
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

/** Returns `undefined` for the newest models, whose limit the provider enforces. */
function maxOutputOf(version: number, family: string): number | undefined {
  if (version < 305) return 4096;
  if (version < 307) return 8192;
  if (version < 405) return family === 'opus' ? 32_000 : 64_000;
  if (version < 407) return version === 406 && family === 'opus' ? 128_000 : 64_000;
  return undefined;
}
