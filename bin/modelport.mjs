#!/usr/bin/env node
// The command `modelport`: starts src/main.ts under the Bun that npm installed.
import { join } from 'node:path';
import { runBun } from './bun.mjs';

runBun([join(import.meta.dirname, '..', 'src', 'main.ts'), ...process.argv.slice(2)]);
