/**
 * `npm test` and `npm run test:all`: runs the tests in parallel processes, then those that need the machine to themselves, and sums up
 * at the end what was skipped and why.
 * `--all` adds `test/system/` (several processes, kills, client libraries of all ages, command-line agents); `--shard=1/3` runs a third of
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

/** What takes minutes. The runner has an order of its own in which these come last, one by one: so they have a process to themselves. */
const SLOW = ['test/system/clients/', 'test/system/client-errors'];

/** What fills both cores or measures how long the gateway takes to answer: run one after the other when everything else has ended. */
const ALONE = [
  'src/ledger/hot-account',
  'test/system/held-up',
  'test/system/limits-under-load',
  'test/system/sandbox-load',
  'test/system/wide-bodies',
  'test/system/work-bounds',
];

/** Splits the files of a run into those that run side by side, of which some take minutes, and those that run alone. */
export function splitFiles(files: readonly string[]): {
  quick: readonly string[];
  slow: readonly string[];
  alone: readonly string[];
} {
  const isAmong = (starts: readonly string[]) => (file: string) => starts.some((start) => file.startsWith(start));
  const [isAlone, isSlow] = [isAmong(ALONE), isAmong(SLOW)];
  const together = files.filter((file) => !isAlone(file));
  return {
    quick: together.filter((file) => !isSlow(file)),
    slow: together.filter(isSlow),
    alone: files.filter(isAlone),
  };
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

if (import.meta.main) {
  const args = process.argv.slice(2);
  const found = await Array.fromAsync(new Glob('{src,web,scripts,bench,test}/**/*.test.ts').scan({ cwd: ROOT }));
  // Windows writes them with backslashes.
  const all = found.map((file) => file.replaceAll('\\', '/')).filter((file) => !file.includes('node_modules/'));
  const files = chooseFiles(all, args);
  const workers = Math.max(2, Math.floor(availableParallelism() * FILES_PER_CORE));
  const { options } = readArguments(args);
  // The first start of a clone bundles the program, which takes seconds of processor time. Without this the first tests do it all at once.
  if (process.platform !== 'win32')
    await Bun.spawn(['bin/modelport', '--version'], { cwd: ROOT, stdout: 'ignore', stderr: 'ignore' }).exited;
  let output = '';
  /** Passes on complete lines: two runs write at the same time. */
  async function pass(stream: ReadableStream<Uint8Array>, to: NodeJS.WriteStream): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    const write = (text: string) => {
      to.write(text);
      output += text;
    };
    for await (const bytes of stream) {
      rest += decoder.decode(bytes, { stream: true });
      const end = rest.lastIndexOf('\n') + 1;
      if (end > 0) write(rest.slice(0, end));
      rest = rest.slice(end);
    }
    if (rest !== '') write(`${rest}\n`);
  }
  /** Runs these files in so many processes at once; the exit code of the run. */
  async function run(files: readonly string[], processes: number): Promise<number> {
    const command = [
      'test',
      `--parallel=${processes}`,
      // A process loads and compiles a module once, not again for each of its files: a third of the processor time of the quick files.
      '--no-isolate',
      `--timeout=${TIMEOUT_MS}`,
      '--pass-with-no-tests',
      ...options,
      ...files.map((file) => `./${file}`),
    ];
    const child = Bun.spawn([process.execPath, ...command], {
      cwd: ROOT,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    await Promise.all([pass(child.stdout, process.stdout), pass(child.stderr, process.stderr)]);
    return child.exited;
  }
  const { quick, slow, alone } = splitFiles(files);
  const runAll = (group: readonly string[], processes: number) => (group.length > 0 ? [run(group, processes)] : []);
  // Side by side both take about the same time.
  const ofSlow = slow.length > 0 ? 1 : 0;
  const exitCodes = await Promise.all([...runAll(slow, ofSlow), ...runAll(quick, workers - ofSlow)]);
  exitCodes.push(...(await Promise.all(runAll(alone, 1))));
  if (exitCodes.length === 0) console.error('No test file is named so.');
  const failed = failures(output);
  // Without "(fail)" at the start of a line: the runner's own lines are counted.
  if (failed.length > 0) console.log(`\nFailed:\n${failed.join('\n').replace(/^/gm, '  ')}`);
  const reasons = skipReasons(output);
  if (reasons.length > 0)
    console.log(`\nLeft out on this machine:\n${reasons.map((reason) => `  ${reason}`).join('\n')}`);
  const skipped = all.length - files.length;
  if (skipped > 0 && !args.includes('--all'))
    console.log(`\n${skipped} files are left out: npm run test:all runs all of them.`);
  process.exit(exitCodes.length === 0 ? 1 : Math.max(...exitCodes));
}
