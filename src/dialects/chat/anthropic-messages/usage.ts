/** The usage object of this format: cached input stands beside `input_tokens`, not inside. */
import { isObject, type Json, type JsonObject } from '../../../canonical/json.ts';
import { asReport, figure, type Usage, type UsageSource } from '../../../canonical/usage.ts';

/** Passes of the provider that it bills but leaves out of the totals: summing up a long conversation, asking an adviser. */
const PASSES_BESIDE_TOTALS = new Set(['compaction', 'advisor_message']);

/** Reads a usage object; a stream's later ones name only what has changed (`raw` is then the two merged). `undefined`: no report. */
export function readUsage(raw: JsonObject, source: UsageSource): Usage | undefined {
  const usage = readPass(raw, source);
  const passes = Array.isArray(raw.iterations) ? raw.iterations : [];
  for (const pass of passes) {
    if (!isObject(pass) || typeof pass.type !== 'string' || !PASSES_BESIDE_TOTALS.has(pass.type)) continue;
    const beside = readPass(pass, source);
    for (const member of ['input', 'output', 'cachedInput', 'cacheWrite', 'cacheWriteHour', 'reasoning'] as const) {
      const sum = (usage[member] ?? 0) + (beside[member] ?? 0);
      // A sum that is no number makes the whole no report.
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

/** The object a client reads: `output` tokens of a reply that has just begun are 1. */
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

/** The tier a reply was served by, as the other formats say it. */
export function readTier(usage: Json | undefined): { service_tier?: string } {
  const tier = isObject(usage) ? usage.service_tier : undefined;
  return typeof tier === 'string' ? { service_tier: tier === 'standard' ? 'default' : tier } : {};
}

export function writeTier(extras: JsonObject | undefined): { service_tier?: string } {
  const tier = extras?.service_tier;
  return typeof tier === 'string' ? { service_tier: tier === 'default' ? 'standard' : tier } : {};
}

type Count = Exclude<keyof Usage, 'source' | 'size' | 'quality' | 'claimed'>;

function setCount(usage: Usage, name: Count, value: number): void {
  if (value > 0) usage[name] = value;
}
