/** What a build of the program consists of: the bundle that an npm package has, and the binary. */
import { join } from 'node:path';
import { type BuildConfig, Glob } from 'bun';
import { ROOT } from './source-files.ts';

/** The main file, and one for each thread, which is started from the file beside the main file that has its name. */
export function entrypoints(): string[] {
  const workers = [...new Glob('src/**/*-worker.ts').scanSync(ROOT)].sort();
  return ['src/main.ts', ...workers].map((path) => join(ROOT, path));
}

/** The folders that the program reads files from, which are beside it. */
export const ASSET_FOLDERS = ['console'];

/** Builds the pages of the console, with the options of `bin/modelport`. Throws an Error if that fails. */
export function buildAssets(folder: string): void {
  const [console] = ASSET_FOLDERS.map((name) => join(folder, name));
  const options = ['--production', '--splitting', '--public-path=/console/', `--outdir=${console}`];
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'build', 'web/index.html', ...options], { cwd: ROOT });
  if (exitCode !== 0) throw new Error(`The console could not be built: ${stderr.toString().trim()}`);
}

/** With bytecode the program is not parsed at every start: half of a start's processor time. Bun wants a CommonJS bundle for it. */
export function buildOptions(): BuildConfig {
  return {
    entrypoints: entrypoints(),
    root: ROOT,
    target: 'bun',
    format: 'cjs',
    bytecode: true,
    minify: { whitespace: true, syntax: true },
    naming: { entry: '[name].[ext]', asset: '[name].[ext]' },
  };
}
