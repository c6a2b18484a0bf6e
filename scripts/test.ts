/**
 * `npm test` and `npm run test:all`: runs the tests in parallel processes, then those that need the machine to themselves, and sums up
 * at the end what was skipped and why.
 * `--all` adds `test/system/` (several processes, kills, client libraries of all versions, command-line agents); `--shard=1/3` runs a third of
 * the files, for CI services with several machines. Anything else is handed to `bun test`: a path, `-t NAME`.
 */
import { availableParallelism } from 'node:os';
import { Glob } from 'bun';
import { ROOT } from './source-files.ts';

/** Half of the tests' time is waiting (processes that start, time limits), so more files run at once than there are processors. */
const FILES_PER_CORE = 2.5;
const TIMEOUT_MS = 60_000;
const SYSTEM = 'test/system/';

/** The paths among the arguments and what goes to `bun test` as it is; `-t NAME` becomes one option. */
export function readArguments(args: readonly string[]): { paths: string[]; options: string[]; all: boolean } {
  const paths: string[] = [];
  const options: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (arg === '-t') options.push(`--test-name-pattern=${args[++at] ?? ''}`);
    else if (arg.startsWith('-')) options.push(arg);
    else paths.push(arg.replace(/^\.\//, ''));
  }
  return { paths, options: options.filter((option) => option !== '--all'), all: options.includes('--all') };
}

/** The test files of this run: those below the given paths, or all; `test/system/` only where it is asked for. */
export function chooseFiles(files: readonly string[], args: readonly string[]): readonly string[] {
  const { paths, all } = readArguments(args);
  if (paths.length > 0) return files.filter((file) => paths.some((path) => file.startsWith(path)));
  return all ? files : files.filter((file) => !file.startsWith(SYSTEM));
}

/** What takes longest, in this order: these files begin first, each in a process of its own, so that no processor is idle at the end. */
const LONGEST = [
  'test/system/clients/matrix',
  'test/system/client-errors',
  'test/system/console-pages',
  'test/system/scenarios',
  'test/system/clients/recordings',
  'test/system/clients/python',
  'test/system/clients/endings',
  'test/e2e/console.',
  'src/ledger/completion',
  'test/system/limits.',
  'test/system/openai-recordings',
  'test/system/release',
  'test/system/exact-balance',
  'test/system/agents',
  'test/system/partition',
  'test/system/upgrade',
  'test/system/attack/',
  'test/system/video-fleet',
  'test/system/openapi-tools',
  'test/system/npm-package',
  'test/conformance/mutations',
  'test/system/binary',
  'test/docs/',
];

/** What fills both cores or measures how long the gateway takes to answer: run one after the other when everything else has ended. */
const ALONE = [
  'src/ledger/hot-account',
  'test/system/paused-clients',
  'test/system/limits-under-load',
  'test/system/sandbox-load',
  'test/system/wide-bodies',
  'test/system/work-bounds',
];

/** How many of the other files share a process: it loads a module once for all of them, and must not become what the others wait for. */
const FILES_PER_PROCESS = 12;

/** The processes of a run with their files: those that run side by side, in the order in which they begin, and those that run alone. */
export function planRun(files: readonly string[]): { together: readonly string[][]; alone: readonly string[][] } {
  const rankIn = (starts: readonly string[], file: string) => starts.findIndex((start) => file.startsWith(start));
  const alone = files.filter((file) => rankIn(ALONE, file) >= 0);
  const rank = (file: string) => rankIn(LONGEST, file);
  const together = files.filter((file) => !alone.includes(file));
  const longest = together.filter((file) => rank(file) >= 0).toSorted((a, b) => rank(a) - rank(b));
  // Tests of several processes take longer than those of one module, and begin before them.
  const others = together.filter((file) => rank(file) < 0).toSorted((a, b) => (a < b ? 1 : -1));
  const shared = Array.from({ length: Math.ceil(others.length / FILES_PER_PROCESS) }, (_, index) =>
    others.slice(index * FILES_PER_PROCESS, (index + 1) * FILES_PER_PROCESS),
  );
  return { together: [...longest.map((file) => [file]), ...shared], alone: alone.map((file) => [file]) };
}

/** The part of the files that one of several machines runs, by `--shard=1/3`. */
export function shardOf(files: readonly string[], shard: string | undefined): readonly string[] {
  if (shard === undefined) return files;
  const [, part, parts] = /^--shard=([1-9]\d*)\/([1-9]\d*)$/.exec(shard) ?? [];
  if (!part || !parts) throw new Error(`${shard} is not of the form --shard=1/3.`);
  return files.filter((_, index) => index % Number(parts) === Number(part) - 1);
}

/** The lines that say what is left out on this machine, once each. */
export function skipReasons(output: string): readonly string[] {
  return [...new Set(output.split('\n').filter((line) => /^[^(].*\b(is|are) skipped\b/.test(line)))];
}

/** How much of what a failed test wrote stands at the end: CI services often show no more than the last lines of a run. */
const LINES_PER_FAILURE = 25;

/** The failed tests, each once, with the file's name and the last lines written before its result. A hook that fails has no name. */
export function failures(output: string): readonly string[] {
  // The runner lists the failed tests once more at its end, then without their files.
  const found = new Map<string, string>();
  let file = '';
  let written: string[] = [];
  for (const line of output.split('\n')) {
    const heading = /^(\S+\.test\.ts):$/.exec(line);
    if (heading) file = heading[1] as string;
    if (line.startsWith('(fail) ') && !found.has(line))
      found.set(line, [`${file}: ${line}`, ...written.slice(-LINES_PER_FAILURE).map((text) => `  ${text}`)].join('\n'));
    if (heading || /^\((pass|fail|skip|todo)\) /.test(line)) written = [];
    else if (line.trim() !== '') written.push(line);
  }
  return [...found.values()];
}

/** How many of the processes that took longest are listed at the end. */
const LONGEST_LISTED = 15;

/** A run of several processes. What a process writes is passed on in one piece, when it has ended. */
class Run {
  readonly took: { name: string; seconds: number }[] = [];
  output = '';
  exitCode = 0;
  private readonly broken: string[] = [];
  private readonly running = new Map<string, { pid: number; written(): string }>();

  private readonly options: readonly string[];

  constructor(options: readonly string[]) {
    this.options = options;
  }

  async all(processes: readonly (readonly string[])[], atOnce: number): Promise<void> {
    const waiting = [...processes];
    const work = async () => {
      for (let files = waiting.shift(); files; files = waiting.shift()) await this.one(files);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }

  private async one(files: readonly string[]): Promise<void> {
    const started = performance.now();
    const command = [
      'test',
      // A process loads and compiles a module once, not again for each of its files.
      '--no-isolate',
      `--timeout=${TIMEOUT_MS}`,
      '--pass-with-no-tests',
      ...this.options,
      ...files.map((file) => `./${file}`),
    ];
    const child = Bun.spawn([process.execPath, ...command], {
      cwd: ROOT,
      env: { ...process.env, MODELPORT_TEST_RUN: String(process.pid) },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      // A process group of its own, with all that its tests start.
      detached: true,
    });
    const name = files.length === 1 ? `${files[0]}` : `${files[0]} and ${files.length - 1} more`;
    let written = '';
    this.running.set(name, { pid: child.pid, written: () => written });
    const keep = async (stream: ReadableStream<Uint8Array>) => {
      const decoder = new TextDecoder();
      for await (const bytes of stream) written += decoder.decode(bytes, { stream: true });
    };
    const kept = Promise.all([keep(child.stdout), keep(child.stderr)]);
    const exitCode = await child.exited;
    // What a test left behind would hold the output open.
    endGroup(child.pid);
    await Promise.race([kept, Bun.sleep(LEFT_BEHIND_MS)]);
    this.exitCode = Math.max(this.exitCode, exitCode);
    this.running.delete(name);
    if (exitCode !== 0 && failures(written).length === 0)
      this.broken.push(`${name}: exit code ${exitCode}\n${lastLines(written)}`);
    this.took.push({ name, seconds: (performance.now() - started) / 1000 });
    this.output += written;
    process.stdout.write(written);
  }

  stop(): void {
    for (const { pid } of this.running.values()) endGroup(pid);
  }

  /** What stands at the end of the output: failures, what was left out, and what took longest. */
  summary(): string {
    const lists: [string, readonly string[]][] = [
      // Without "(fail)" at the start of a line: the runner's own lines are counted.
      ['Failed', [...failures(this.output), ...this.broken]],
      ['Left out on this machine', skipReasons(this.output)],
      ['Not ended', [...this.running].map(([name, { written }]) => `${name}\n${lastLines(written())}`)],
      [
        'Took longest',
        this.took
          .toSorted((a, b) => b.seconds - a.seconds)
          .slice(0, LONGEST_LISTED)
          .map(({ name, seconds }) => `${seconds.toFixed(0)} s ${name}`),
      ],
    ];
    return lists
      .filter(([, lines]) => lines.length > 0)
      .map(([title, lines]) => `\n${title}:\n${lines.join('\n').replace(/^/gm, '  ')}\n`)
      .join('');
  }
}

/** How long the output of a process may stay open after its end. */
const LEFT_BEHIND_MS = 2000;

/** Ends what is left of a process group. Windows has none. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // Nothing is left.
  }
}

const lastLines = (text: string) =>
  text.trimEnd().split('\n').slice(-LINES_PER_FAILURE).join('\n').replace(/^/gm, '  ');

if (import.meta.main) {
  const args = process.argv.slice(2);
  const found = await Array.fromAsync(new Glob('{src,web,scripts,bench,test}/**/*.test.ts').scan({ cwd: ROOT }));
  // Windows writes them with backslashes.
  const all = found.map((file) => file.replaceAll('\\', '/')).filter((file) => !file.includes('node_modules/'));
  const { options } = readArguments(args);
  const isShard = (option: string) => option.startsWith('--shard');
  const files = shardOf(chooseFiles(all.toSorted(), args), options.find(isShard));
  // The first start of a clone bundles the program, which takes seconds of processor time. Without this the first tests do it all at once.
  if (process.platform !== 'win32')
    await Bun.spawn(['bin/modelport', '--version'], { cwd: ROOT, stdout: 'ignore', stderr: 'ignore' }).exited;
  const run = new Run(options.filter((option) => !isShard(option)));
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      console.log(run.summary());
      run.stop();
      process.exit(1);
    });
  const { together, alone } = planRun(files);
  await run.all(together, Math.max(2, Math.floor(availableParallelism() * FILES_PER_CORE)));
  await run.all(alone, 1);
  console.log(run.summary());
  if (files.length === 0) console.error('No test file is named so.');
  const skipped = all.length - files.length;
  if (skipped > 0 && !args.includes('--all'))
    console.log(`\n${skipped} files are left out: npm run test:all runs all of them.`);
  process.exit(files.length === 0 ? 1 : run.exitCode);
}
