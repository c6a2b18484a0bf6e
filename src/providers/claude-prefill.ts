/**
 * Claude models that continue a last message of the assistant: those before 4.6. Newer ones refuse it ("This model does not support
 * assistant message prefill").
 */
export const CLAUDE_PREFILL = {
  match: 'claude-(3[-.]|[a-z]+-4(?:[-.][0-5])?(?!\\d)(?![-.]\\d{1,2}(?!\\d)))',
  quirks: { supportsPrefill: 'last' },
} as const;
