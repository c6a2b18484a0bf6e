/** `usageMetadata`. Thoughts and tool-use prompt tokens are not included in the output and input counts. */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { asReport, figure, type Usage, type UsageSource } from '../../../canonical/usage.ts';

/** Counts that the usage does not contain but the reply shows: images and searches. */
export interface SeenContent {
  images: number;
  searches: number;
}

/** Returns `undefined` if it reports nothing. */
export function readUsage(raw: JsonObject, seen: SeenContent, source: UsageSource): Usage | undefined {
  const reasoning = figure(raw.thoughtsTokenCount);
  const input = figure(raw.promptTokenCount) + figure(raw.toolUsePromptTokenCount);
  const output = figure(raw.candidatesTokenCount) + reasoning;
  const promptDetails = [raw.promptTokensDetails, raw.toolUsePromptTokensDetails];
  return asReport({
    input,
    output,
    source,
    ...present('cachedInput', Math.min(input, figure(raw.cachedContentTokenCount))),
    ...present('audioInput', Math.min(input, ofModality('AUDIO', promptDetails))),
    ...present('imageInput', Math.min(input, ofModality('IMAGE', promptDetails))),
    ...present('reasoning', reasoning),
    ...present('audioOutput', Math.min(output, ofModality('AUDIO', [raw.candidatesTokensDetails]))),
    ...present('imageOutput', Math.min(output, generated(raw, seen))),
    ...present('images', seen.images),
    ...present('serverToolCalls', Math.max(seen.searches, figure(raw.serverToolCallCount))),
  });
}

/**
 * The image tokens. If the provider does not list them, all output of a reply with images counts as image tokens, which
 * cost more.
 */
function generated(
  { candidatesTokensDetails: details, candidatesTokenCount: all }: JsonObject,
  { images }: SeenContent,
): number {
  if (details === undefined && images > 0) return figure(all);
  return ofModality('IMAGE', [details]);
}

export function writeUsage(usage: Usage): JsonObject {
  const { input, output, cachedInput = 0, reasoning = 0 } = usage;
  const candidates = Math.max(0, output - reasoning);
  return {
    promptTokenCount: input,
    ...present('cachedContentTokenCount', cachedInput),
    candidatesTokenCount: candidates,
    ...present('thoughtsTokenCount', reasoning),
    totalTokenCount: input + candidates + reasoning,
    // Not a member of Google's: Google reports the search queries instead.
    ...present('serverToolCallCount', usage.serverToolCalls ?? 0),
    ...details('promptTokensDetails', input, usage.audioInput, usage.imageInput),
    ...details('candidatesTokensDetails', candidates, usage.audioOutput, usage.imageOutput),
  };
}

/** The service tier, in the other formats' words. */
export function readTier(usage: Json | undefined): { service_tier?: string } {
  const tier = isObject(usage) ? usage.serviceTier : undefined;
  if (typeof tier !== 'string' || tier === '') return {};
  const word = tier.toLowerCase().replace(/^service_tier_/, '');
  return { service_tier: word === 'standard' ? 'default' : word };
}

export function writeTier(extras: JsonObject | undefined): { serviceTier?: string } {
  const tier = extras?.service_tier;
  return typeof tier === 'string' ? { serviceTier: tier === 'default' ? 'standard' : tier } : {};
}

function ofModality(modality: string, lists: readonly (Json | undefined)[]): number {
  let sum = 0;
  for (const list of lists) {
    if (!Array.isArray(list)) continue;
    for (const item of list) if (isObject(item) && item.modality === modality) sum += figure(item.tokenCount);
  }
  return sum;
}

function details(member: string, total: number, audio = 0, image = 0): JsonObject {
  const rows: [string, number][] = [
    ['TEXT', total - audio - image],
    ['AUDIO', audio],
    ['IMAGE', image],
  ];
  const counted = rows.filter(([, tokens]) => tokens > 0);
  return { [member]: counted.map(([modality, tokenCount]) => ({ modality, tokenCount })) };
}

function present<Name extends string>(name: Name, value: number): { [name in Name]?: number } {
  return value > 0 ? ({ [name]: value } as { [name in Name]: number }) : {};
}
