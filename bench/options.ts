/** The benchmark's command-line options. */

export interface Options {
  /** The windows of each gateway, in which they take turns. */
  windows: number;
  /** The length of what is measured of one gateway alone. */
  seconds: number;
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
  --quick            5 windows, and 1.5 s for the rest: a look, not a measurement
  --windows N        windows of 500 ms in which the gateways take turns, for requests and again for chunks (default 15), and a
                     third as many, at least 5, of 2.5 s at 200 requests a second; figures are their medians
  --seconds N        length of what is measured of one gateway alone, and of all windows of gateways of others (default 3)
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

/** The options, or an error message. `names`: what `--only` chooses among. */
export function readOptions(args: readonly string[], names: readonly string[]): Options | string {
  const options: Options = { windows: 15, seconds: 3, only: [], writeDocs: false };
  const queue = [...args];
  for (let arg = queue.shift(); arg !== undefined; arg = queue.shift()) {
    switch (arg) {
      case '--quick':
        options.seconds = 1.5;
        options.windows = 5;
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
      case '--only': {
        options.only = (queue.shift() ?? '').split(',').filter((name) => name !== '');
        if (options.only.length === 0) return '--only needs names';
        const unknown = options.only.find((name) => !names.includes(name));
        if (unknown !== undefined) return `--only does not know ${unknown}; there are ${names.join(', ')}`;
        break;
      }
      case '--help':
        return USAGE;
      case '--soak':
      case '--seconds':
      case '--windows': {
        const value = Number(queue.shift());
        if (!(value > 0)) return `${arg} needs a number above zero`;
        if (arg === '--seconds') options.seconds = value;
        else if (arg === '--soak') options.soakMinutes = value;
        else options.windows = Math.ceil(value);
        break;
      }
      default:
        return `unknown option ${arg}\n${USAGE}`;
    }
  }
  return options;
}
