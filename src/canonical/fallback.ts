/** Why a call uses a fallback model. */
export const FALLBACK_REASONS = ['context_length', 'unavailable', 'content_filter'] as const;
export type FallbackReason = (typeof FALLBACK_REASONS)[number];
