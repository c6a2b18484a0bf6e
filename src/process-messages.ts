/** Messages between the processes of one service, and the worker's side of them. */
import type { MetricsFormat } from './telemetry/metrics/exposition.ts';
import type { MetricFamily } from './telemetry/metrics/family.ts';

export type FromWorker =
  | { type: 'ready' }
  /** The event loop is running. */
  | { type: 'alive' }
  /** The metrics of all processes are requested. */
  | { type: 'gather'; scrape: number; format: MetricsFormat }
  | { type: 'scraped'; scrape: number; families: readonly MetricFamily[] };

export type FromSupervisor =
  | { type: 'scrape'; scrape: number }
  | { type: 'gathered'; scrape: number; text: string }
  /** The configuration must be read again. */
  | { type: 'reload' };

export interface WorkerLink {
  /** This process is listening. */
  ready(): void;
  /** The metrics of all processes, as text. */
  gather(format: MetricsFormat): Promise<string>;
  /** Sets the function that reads the configuration again. */
  onReload(reload: () => void): void;
  /** Closes the channel, which otherwise keeps the process alive. */
  close(): void;
}

/** How often a worker reports that its event loop is running. */
export const ALIVE_MS = 1000;

/** The channel to the process that started this one. `own`: the metrics of this process. */
export function openWorkerLink(own: () => Promise<readonly MetricFamily[]>): WorkerLink {
  const waiting = new Map<number, (text: string) => void>();
  let asked = 0;
  let reload = () => {};
  const tell = (message: FromWorker) => void process.send?.(message);

  process.on('message', async (message: FromSupervisor) => {
    if (message.type === 'scrape') {
      tell({ type: 'scraped', scrape: message.scrape, families: await own() });
    } else if (message.type === 'reload') reload();
    else {
      waiting.get(message.scrape)?.(message.text);
      waiting.delete(message.scrape);
    }
  });
  const turning = setInterval(() => tell({ type: 'alive' }), ALIVE_MS);
  return {
    ready: () => tell({ type: 'ready' }),
    gather(format) {
      const scrape = ++asked;
      return new Promise((resolve) => {
        waiting.set(scrape, resolve);
        tell({ type: 'gather', scrape, format });
      });
    },
    onReload(run) {
      reload = run;
    },
    close() {
      clearInterval(turning);
      process.disconnect?.();
    },
  };
}
