/** What a build of the program consists of: the bundle that an npm package has, and the binary. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildConfig, Glob } from 'bun';
import { ROOT } from './source-files.ts';

/** Folders that are served or read as files, by the name that they have beside the program, where they have been built. */
const ASSETS: { readonly [name: string]: string } = { console: 'web/dist' };

/** The main file, and one for each thread, which is started from the file beside the main file that has its name. */
export function entrypoints(): string[] {
  const workers = [...new Glob('src/**/*-worker.ts').scanSync(ROOT)].sort();
  return ['src/main.ts', ...workers].map((path) => join(ROOT, path));
}

/** The folders of assets that exist, by name. */
export function assetFolders(): { [name: string]: string } {
  const found = Object.entries(ASSETS).map(([name, path]) => [name, join(ROOT, path)] as const);
  return Object.fromEntries(found.filter(([, path]) => existsSync(path)));
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
