#!/usr/bin/env node
// The command `modelport`: starts the program under the Bun that npm installed. A clone has its sources, an npm package the bundle.
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { runBun } from './bun.mjs';

const root = join(import.meta.dirname, '..');
const source = join(root, 'src', 'main.ts');
// The working folder of an installed package may be anybody's: its .env and bunfig.toml do not change the program.
const program = existsSync(source)
  ? [source]
  : ['--no-env-file', `--config=${devNull}`, join(root, 'dist', 'program', 'main.js')];

runBun([...program, ...process.argv.slice(2)]);
