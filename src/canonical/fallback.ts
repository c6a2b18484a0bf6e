/** Why a call goes on to another model. */
export const FALLBACK_REASONS = ['context_length', 'unavailable', 'content_filter'] as const;
export type FallbackReason = (typeof FALLBACK_REASONS)[number];
