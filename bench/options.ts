/** The benchmark's command-line options. */

export interface Options {
  /** The length of each measurement. */
  seconds: number;
  rounds: number;
  /** No further round begins if it would end after this time. */
  minutes: number;
  /** The gateways to run; empty: all. */
  only: readonly string[];
  writeDocs: boolean;
  /** Prints the page for the documentation instead of tables for a terminal. */
  markdown?: boolean;
  /** The length of a soak in minutes, instead of the measurements. */
  soakMinutes?: number;
  /** Several processes and gateways, instead of the measurements. */
  fleet?: boolean;
}

const USAGE = `npm run bench -- [options]
  --quick            one short round: a look, not a measurement
  --seconds N        length of each measurement (default 4)
  --rounds N         rounds over all gateways; figures are medians (default 3). Gateways of others are measured in the first
  --minutes N        no further round begins if it would end later (default 15)
  --only a,b         only these of nginx, raw-sockets, modelport, modelport-translating, modelport-two, modelport-limited,
                     modelport-shared, portkey, litellm, bifrost, lm-proxy; those of others are installed into
                     BENCH_CACHE (default ~/.cache/modelport-bench) when they are first measured
  --soak MINUTES     200 calls a second and 500 streams through one gateway (--only, default modelport) instead:
                     prints memory and latency every 30 s, and exits with 1 if memory grows, a chunk is late or a call fails
  --fleet            1, 2 and 4 processes, and two gateways on one database (BENCH_DATABASE_URL, BENCH_REDIS_URL), and as
                     root on Linux two machines in network namespaces behind nginx, with 10,000 streams, instead; --only
                     chooses among modelport, modelport-shared and two-machines
  --markdown         print the page of docs/reference/benchmarks.md
  --write-docs       write docs/reference/benchmarks.md and a table of docs/guides/scale.md from the result`;

/** The options, or an error message. */
export function readOptions(args: readonly string[]): Options | string {
  const options: Options = { seconds: 4, rounds: 3, minutes: 15, only: [], writeDocs: false };
  const queue = [...args];
  for (let arg = queue.shift(); arg !== undefined; arg = queue.shift()) {
    switch (arg) {
      case '--quick':
        options.seconds = 1.5;
        options.rounds = 1;
        break;
      case '--write-docs':
        options.writeDocs = true;
        break;
      case '--markdown':
        options.markdown = true;
        break;
      case '--fleet':
        options.fleet = true;
        break;
      case '--only':
        options.only = (queue.shift() ?? '').split(',').filter((name) => name !== '');
        break;
      case '--soak':
      case '--seconds':
      case '--minutes':
      case '--rounds': {
        const value = Number(queue.shift());
        if (!(value > 0)) return `${arg} needs a number above zero`;
        if (arg === '--seconds') options.seconds = value;
        else if (arg === '--soak') options.soakMinutes = value;
        else if (arg === '--minutes') options.minutes = value;
        else options.rounds = Math.ceil(value);
        break;
      }
      default:
        return `unknown option ${arg}\n${USAGE}`;
    }
  }
  return options;
}
