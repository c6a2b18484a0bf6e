/** Reads the repository's own text files, and prints faults for every check. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A file of the repository. `path` is relative to the root, with forward slashes. */
export interface SourceFile {
  path: string;
  text: string;
}

/** One sentence with position and fault: `src/a.ts:3: …`. */
export type Fault = string;

export const ROOT = dirname(import.meta.dir);

const IGNORED = new Set(['node_modules', 'data', 'results', '.git']);

/** Sorted paths of these files and of all files below these folders. */
export function listFiles(entries: readonly string[]): string[] {
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.includes('.') && !entry.startsWith('.')) found.push(entry);
    else context(entry, found);
  }
  return found.sort();
}

function context(folder: string, found: string[]): void {
  for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!IGNORED.has(entry.name)) context(path, found);
    } else found.push(path);
  }
}

/** The TypeScript files below these folders with their text, those of the web console included. */
export function readSources(folders: readonly string[]): SourceFile[] {
  return readFiles(listFiles(folders).filter((path) => /\.tsx?$/.test(path)));
}

export function readFiles(paths: readonly string[]): SourceFile[] {
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

export const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path);

/** Prints the faults and exits with 0 if there are none, otherwise 1. */
export function report(name: string, faults: readonly Fault[]): never {
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) console.error(`${name}: ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`);
  process.exit(faults.length === 0 ? 0 : 1);
}
