/** Which calls are exported as traces: the samplers of OpenTelemetry (`OTEL_TRACES_SAMPLER`). */
import type { TraceParent } from './trace-context.ts';

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

export interface Sampler {
  /** Decides when the call starts. */
  samples(traceId: string, parent: TraceParent | undefined): boolean;
  /** Calls that fail or are slow are exported although they were not sampled. */
  readonly keepsErrors: boolean;
}

/** `ratio`: in [0, 1]. */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  const followsParent = name.startsWith('parentbased_');
  const own = name.replace('parentbased_', '');
  const share = own === 'always_on' ? 1 : own === 'always_off' ? 0 : ratio;
  return {
    samples: (traceId, parent) => (followsParent && parent ? parent.isSampled : isWithin(traceId, share)),
    keepsErrors: own !== 'always_off',
  };
}

/** By the random part of the identifier, so that all services with this ratio choose the same traces. */
function isWithin(traceId: string, share: number): boolean {
  if (share >= 1) return true;
  return share > 0 && Number.parseInt(traceId.slice(18), 16) < share * 2 ** 56;
}
