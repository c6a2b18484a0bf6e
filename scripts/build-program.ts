/** Runs before `npm pack`: bundles the program into `dist/program/`, so that a machine with Node alone runs it without compiling it. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildAssets, buildOptions } from './program-build.ts';
import { ROOT } from './source-files.ts';

const outdir = join(ROOT, 'dist', 'program');
rmSync(outdir, { recursive: true, force: true });
await Bun.build({ ...buildOptions(), outdir });
buildAssets(outdir);
