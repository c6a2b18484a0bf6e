/** `npm run check`: runs every check and prints one line each; `--no-tests` leaves the tests out. */
import { ROOT } from './source-files.ts';

export interface Step {
  name: string;
  /** Arguments for Bun: a script of this repository or a package's program. */
  command: readonly string[];
}

const STEPS: readonly Step[] = [
  { name: 'types', command: ['node_modules/typescript/bin/tsc'] },
  { name: 'web', command: ['node_modules/typescript/bin/tsc', '-p', 'web'] },
  { name: 'lint', command: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'] },
  { name: 'arrows', command: ['scripts/check-arrows.ts'] },
  { name: 'sizes', command: ['scripts/check-sizes.ts'] },
  { name: 'prices', command: ['scripts/check-prices.ts'] },
  { name: 'docs', command: ['scripts/check-docs.ts'] },
  { name: 'words', command: ['scripts/check-words.ts'] },
  { name: 'tables', command: ['scripts/reference-docs.ts', '--check'] },
  { name: 'unused', command: ['node_modules/knip/bin/knip.js', '--no-progress'] },
  { name: 'tests', command: ['scripts/test.ts', '--all'] },
];

/** The requested steps, or an error message for an unknown argument. */
export function chooseSteps(steps: readonly Step[], args: readonly string[]): readonly Step[] | string {
  const unknown = args.find((arg) => arg !== '--no-tests');
  if (unknown !== undefined) return `unknown argument ${unknown}: only --no-tests is supported`;
  return args.includes('--no-tests') ? steps.filter(({ name }) => name !== 'tests') : steps;
}

export interface Outcome {
  name: string;
  exitCode: number;
  milliseconds: number;
  output: string;
}

/** `ok   types    1.2 s`, and the output of a failed step. */
export function writeOutcome({ name, exitCode, milliseconds, output }: Outcome): string {
  const line = `${exitCode === 0 ? 'ok  ' : 'FAIL'} ${name.padEnd(8)}${(milliseconds / 1000).toFixed(1).padStart(6)} s`;
  return exitCode === 0 ? line : `${line}\n${output.trimEnd().replace(/^/gm, '     ')}`;
}

async function run({ name, command }: Step): Promise<Outcome> {
  const start = performance.now();
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: '1' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { name, exitCode, milliseconds: performance.now() - start, output: out + err };
}

if (import.meta.main) {
  const steps = chooseSteps(STEPS, process.argv.slice(2));
  if (typeof steps === 'string') {
    console.error(steps);
    process.exit(2);
  }
  let failed = 0;
  for (const step of steps) {
    const outcome = await run(step);
    if (outcome.exitCode !== 0) failed++;
    console.log(writeOutcome(outcome));
  }
  console.log(failed === 0 ? 'all good' : `${failed} of ${steps.length} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
