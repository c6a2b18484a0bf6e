/** The figures that this project has set itself as targets, beside what a run measured. Pure functions. */
import type { Figures, GatewayResult } from './figures.ts';

export interface Target {
  label: string;
  /** What is to be reached: at most, or with `atLeast` at least. */
  goal: number;
  atLeast?: boolean;
  unit: string;
  digits: number;
  /** NaN if it was not measured. */
  measured: number;
}

/** `cores`: of the machine, which gateway, load and upstream share. */
export function targetsOf(gateways: readonly GatewayResult[], cores: number): Target[] {
  const ratio = (name: string, figure: keyof Figures) =>
    gateways.find((gateway) => gateway.name === name)?.ratios?.[figure] ?? Number.NaN;
  const value = (name: string, figure: keyof Figures) =>
    gateways.find((gateway) => gateway.name === name)?.figures[figure] ?? Number.NaN;
  const times = (label: string, goal: number, name: string, figure: keyof Figures): Target => ({
    label,
    goal,
    unit: 'x nginx',
    digits: 2,
    measured: ratio(name, figure),
  });
  const mb = (label: string, goal: number, figure: keyof Figures): Target => ({
    label,
    goal,
    unit: 'MB',
    digits: 0,
    measured: value('modelport', figure),
  });
  return [
    times('request, same format, all threads', 3, 'modelport', 'cpuPerRequestUs'),
    times('request, same format, with what runs between windows', 3.8, 'modelport', 'totalCpuPerRequestUs'),
    times('request, translated, all threads', 4, 'modelport-translating', 'cpuPerRequestUs'),
    times('chunk, passed on', 1.3, 'modelport', 'cpuPerChunkUs'),
    times('chunk, translated', 1.8, 'modelport-translating', 'cpuPerChunkUs'),
    times('p99 at 200 requests a second', 1.3, 'modelport', 'pacedP99Ms'),
    mb('memory at 500 streams', 100, 'memoryStreamsMb'),
    mb('memory at 5,000 streams', 400, 'memoryManyStreamsMb'),
    times('request, Postgres and Redis, all threads', 6, 'modelport-shared', 'cpuPerRequestUs'),
    {
      label: '2 processes beside 1, requests a second, what the load takes subtracted',
      goal: 1.8,
      atLeast: true,
      unit: 'x',
      digits: 2,
      measured: speedup(value('modelport', 'requestsPerSecond'), value('modelport-two', 'requestsPerSecond'), {
        harness: value('modelport-two', 'harnessCores'),
        cores,
      }),
    },
    {
      label: 'cold start to the first answer',
      goal: 0.2,
      unit: 's',
      digits: 2,
      measured: value('modelport', 'coldStartSeconds'),
    },
  ];
}

/**
 * One process has a core to itself while load and upstream share the others. Two processes on two cores have what these leave: their
 * requests a second are scaled to two whole cores.
 */
function speedup(one: number, two: number, { harness, cores }: { harness: number; cores: number }): number {
  const left = Math.min(2, cores - harness);
  return ((two / one) * 2) / left;
}

export function isMet({ goal, atLeast = false, measured }: Target): boolean {
  return atLeast ? measured >= goal : measured <= goal;
}

/** The rows of the table: target, measured, goal, whether it is met. */
export function targetRows(targets: readonly Target[]): string[][] {
  return [
    ['target', 'measured', 'goal', ''],
    ...targets.map((target) => {
      const { label, goal, unit, digits, measured, atLeast = false } = target;
      if (Number.isNaN(measured)) return [label, '-', `${goal} ${unit}`, 'not measured'];
      const bound = `${atLeast ? 'at least ' : ''}${goal} ${unit}`;
      return [label, `${measured.toFixed(digits)} ${unit}`, bound, isMet(target) ? 'met' : 'missed'];
    }),
  ];
}
