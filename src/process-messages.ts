/** Messages between the processes of one service, and the worker's side of them. */

export type FromWorker =
  | { type: 'ready' }
  /** The event loop is running. */
  | { type: 'alive' }
  /** The metrics of all processes are requested. */
  | { type: 'gather'; scrape: number }
  | { type: 'scraped'; scrape: number; text: string };

export type FromSupervisor =
  | { type: 'scrape'; scrape: number }
  | { type: 'gathered'; scrape: number; text: string }
  /** The configuration must be read again. */
  | { type: 'reload' };

/** The metrics of one process in the Prometheus text format. */
export interface Scraped {
  process: number;
  text: string;
}

export interface WorkerLink {
  /** This process is listening. */
  ready(): void;
  /** The metrics of all processes. */
  gather(): Promise<string>;
  /** Sets the function that reads the configuration again. */
  onReload(reload: () => void): void;
  /** Closes the channel, which otherwise keeps the process alive. */
  close(): void;
}

/** How often a worker reports that its event loop is running. */
export const ALIVE_MS = 1000;

/** The channel to the process that started this one. `own`: writes the metrics of this process. */
export function openWorkerLink(own: () => Promise<string>): WorkerLink {
  const waiting = new Map<number, (text: string) => void>();
  let asked = 0;
  let reload = () => {};
  const tell = (message: FromWorker) => void process.send?.(message);

  process.on('message', async (message: FromSupervisor) => {
    if (message.type === 'scrape') {
      tell({ type: 'scraped', scrape: message.scrape, text: await own() });
    } else if (message.type === 'reload') reload();
    else {
      waiting.get(message.scrape)?.(message.text);
      waiting.delete(message.scrape);
    }
  });
  const turning = setInterval(() => tell({ type: 'alive' }), ALIVE_MS);
  return {
    ready: () => tell({ type: 'ready' }),
    gather() {
      const scrape = ++asked;
      return new Promise((resolve) => {
        waiting.set(scrape, resolve);
        tell({ type: 'gather', scrape });
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

const SERIES = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

/** Merges the metrics: each series gets a process label, and each family stays together, as Prometheus requires. */
export function mergeMetrics(scraped: readonly Scraped[]): string {
  const families = new Map<string, { head: string[]; series: string[] }>();
  for (const { process, text } of scraped) {
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const [, described] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? [];
      const [, name = described ?? line, labels, value] = SERIES.exec(line) ?? [];
      const family = families.get(name) ?? { head: [], series: [] };
      families.set(name, family);
      if (described === undefined)
        family.series.push(`${name}{process="${process}"${labels ? `,${labels}` : ''}} ${value}`);
      else if (!family.head.includes(line)) family.head.push(line);
    }
  }
  return [...families.values()].map(({ head, series }) => `${[...head, ...series].join('\n')}\n`).join('');
}
