/** Limits for all video formats, far above what any provider generates. They keep the price a finite number. */
export const RANGES = {
  seconds: { least: 0.1, most: 3600 },
  side: { least: 16, most: 16_384 },
  fps: { least: 1, most: 240 },
  seed: { least: -1, most: 2 ** 53 - 1 },
  n: { least: 1, most: 10 },
  frames: { least: 2, most: 100_000 },
} as const;
