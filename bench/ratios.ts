/** Each gateway's figures beside those of the reference. Pure functions. */
import type { Figures, GatewayResult, WindowFigure } from './figures.ts';
import { median, percentile } from './statistics.ts';

export const REFERENCE = 'nginx';

/** Added latencies have none: a difference of two small numbers is mostly noise. */
const RATIO_FIGURES = [
  'requestsPerSecond',
  'cpuPerRequestUs',
  'loopCpuPerRequestUs',
  'totalCpuPerRequestUs',
  'cpuPerChunkUs',
  'pacedP99Ms',
  'memoryIdleMb',
  'memoryStreamsMb',
  'memoryAfterMb',
  'coldStartSeconds',
] as const satisfies readonly (keyof Figures)[];

/** The gateways with their ratios to the reference among them. */
export function withRatios(gateways: readonly GatewayResult[]): GatewayResult[] {
  const reference = referenceOf(gateways);
  if (!reference) return [...gateways];
  return gateways.map((gateway) => {
    const ratios: Partial<Figures> = {};
    for (const figure of RATIO_FIGURES) {
      const pairs = isWindowFigure(figure, gateway) ? windowRatios(gateway, reference, figure) : [];
      if (pairs.length > 0) ratios[figure] = median(pairs);
      else if (reference.figures[figure] > 0) ratios[figure] = gateway.figures[figure] / reference.figures[figure];
    }
    return { ...gateway, ratios };
  });
}

export const referenceOf = (gateways: readonly GatewayResult[]): GatewayResult | undefined =>
  gateways.find(({ name }) => name === REFERENCE);

const isWindowFigure = (figure: keyof Figures, { windows }: GatewayResult): figure is WindowFigure => figure in windows;

/**
 * The ratio of each round, whose windows lie within seconds of each other. Their median is steadier than the ratio of two medians where the
 * machine's speed changes during the run. Empty for a gateway that did not take turns with the reference.
 */
export function windowRatios(gateway: GatewayResult, reference: GatewayResult, figure: WindowFigure): number[] {
  const [own, theirs] = [gateway.windows[figure], reference.windows[figure]];
  if (own.length !== theirs.length) return [];
  return own.map((value, round) => value / (theirs[round] ?? Number.NaN));
}

/** The values below which a quarter and three quarters of the values lie. */
export function quartiles(values: readonly number[]): [number, number] {
  const known = values.filter((value) => !Number.isNaN(value));
  return [percentile(known, 0.25), percentile(known, 0.75)];
}
