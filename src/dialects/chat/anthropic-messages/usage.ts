/** The usage object of this format. `input_tokens` does not include cached input. */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { asReport, figure, type Usage, type UsageSource } from '../../../canonical/usage.ts';

/** Passes that the provider bills but leaves out of the totals: compaction of a long conversation, and the advisor. */
const PASSES_BESIDE_TOTALS = new Set(['compaction', 'advisor_message']);

/**
 * Reads a usage object. Later ones in a stream contain only the changed members; `raw` is then merged. Returns
 * `undefined` if it reports nothing.
 */
export function readUsage(raw: JsonObject, source: UsageSource): Usage | undefined {
  const usage = readPass(raw, source);
  const passes = Array.isArray(raw.iterations) ? raw.iterations : [];
  for (const pass of passes) {
    if (!isObject(pass) || typeof pass.type !== 'string' || !PASSES_BESIDE_TOTALS.has(pass.type)) continue;
    const beside = readPass(pass, source);
    for (const member of ['input', 'output', 'cachedInput', 'cacheWrite', 'cacheWriteHour', 'reasoning'] as const) {
      const sum = (usage[member] ?? 0) + (beside[member] ?? 0);
      // NaN is kept: it makes the whole report unusable.
      if (sum !== 0) usage[member] = sum;
    }
  }
  return asReport(usage);
}

function readPass(raw: JsonObject, source: UsageSource): Usage {
  const { cache_creation: byAge, server_tool_use: tools, output_tokens_details: details } = raw;
  const cachedInput = figure(raw.cache_read_input_tokens);
  const inHours = isObject(byAge) ? figure(byAge.ephemeral_1h_input_tokens) : 0;
  const inMinutes = isObject(byAge) ? figure(byAge.ephemeral_5m_input_tokens) : 0;
  const written = Math.max(figure(raw.cache_creation_input_tokens), inHours + inMinutes);
  const output = figure(raw.output_tokens);
  const usage: Usage = { input: figure(raw.input_tokens) + cachedInput + written, output, source };
  setCount(usage, 'cachedInput', cachedInput);
  setCount(usage, 'cacheWrite', written - inHours);
  setCount(usage, 'cacheWriteHour', inHours);
  if (isObject(details)) setCount(usage, 'reasoning', Math.min(output, figure(details.thinking_tokens)));
  if (isObject(tools)) {
    setCount(usage, 'serverToolCalls', figure(tools.web_search_requests) + figure(tools.web_fetch_requests));
    setCount(usage, 'freeToolCalls', figure(tools.web_fetch_requests));
  }
  return usage;
}

/** Writes the usage for the client. At the start of a reply `output` is 1, as at the provider. */
export function writeUsage(usage: Usage): JsonObject {
  const {
    input,
    output,
    cachedInput = 0,
    cacheWrite = 0,
    cacheWriteHour = 0,
    reasoning,
    serverToolCalls,
    freeToolCalls = 0,
  } = usage;
  return {
    input_tokens: Math.max(0, input - cachedInput - cacheWrite - cacheWriteHour),
    cache_creation_input_tokens: cacheWrite + cacheWriteHour,
    cache_read_input_tokens: cachedInput,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWriteHour },
    output_tokens: output,
    ...(reasoning && { output_tokens_details: { thinking_tokens: reasoning } }),
    ...(serverToolCalls && {
      server_tool_use: {
        web_search_requests: Math.max(0, serverToolCalls - freeToolCalls),
        web_fetch_requests: freeToolCalls,
      },
    }),
  };
}

/** The service tier, in the other formats' words. */
export function readTier(usage: Json | undefined): { service_tier?: string } {
  const tier = isObject(usage) ? usage.service_tier : undefined;
  return typeof tier === 'string' ? { service_tier: tier === 'standard' ? 'default' : tier } : {};
}

export function writeTier(extras: JsonObject | undefined): { service_tier?: string } {
  const tier = extras?.service_tier;
  return typeof tier === 'string' ? { service_tier: tier === 'default' ? 'standard' : tier } : {};
}

type Count = Exclude<keyof Usage, 'source' | 'size' | 'quality' | 'claimed' | 'hedge'>;

function setCount(usage: Usage, name: Count, value: number): void {
  if (value > 0) usage[name] = value;
}
