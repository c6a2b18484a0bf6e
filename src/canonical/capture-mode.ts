/** What is stored of the requests and replies of calls. */
export const CAPTURE_MODES = ['none', 'hash', 'redacted', 'full'] as const;
export type CaptureMode = (typeof CAPTURE_MODES)[number];
