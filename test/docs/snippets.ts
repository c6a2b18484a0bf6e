/** Finds and runs the examples of the documents: shell lines with a gateway, YAML by `modelport apply`, programs in their languages. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Glob } from 'bun';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Snippet {
  document: string;
  /** Of its first line. */
  line: number;
  language: string;
  code: string;
  /** The directive in the comment before it: `fails: TEXT`, `starts`, `needs: COMMAND`, `not run: REASON`. */
  directive: string | undefined;
}

/** The documents for users, sorted by name. Decisions are not run. */
export function userDocuments(): string[] {
  const pages = [...new Glob('docs/**/*.md').scanSync(ROOT)].map((path) => path.replaceAll('\\', '/'));
  return ['README.md', 'CONTRIBUTING.md', ...pages.filter((path) => !path.startsWith('docs/decisions/')).sort()];
}

export function snippetsOf(document: string, text = readFileSync(join(ROOT, document), 'utf8')): Snippet[] {
  const snippets: Snippet[] = [];
  let open: { line: number; language: string; code: string[]; directive: string | undefined } | undefined;
  let directive: string | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const [, fence] = /^\s*```\s*(\S*)/.exec(line) ?? [];
    if (open && fence !== undefined) {
      snippets.push({ document, ...open, code: `${open.code.join('\n')}\n` });
      open = undefined;
      directive = undefined;
    } else if (open) open.code.push(line);
    else if (fence !== undefined) open = { line: index + 2, language: fence, code: [], directive };
    else if (line.trim() !== '')
      directive = /^<!-- (fails: .+|starts|needs: .+|not run: .+) -->$/.exec(line.trim())?.[1];
  }
  return snippets;
}

export interface Shell {
  /** Runs the lines in the shell and folder of the document: later snippets see the variables of earlier ones. */
  run(code: string): Promise<{ code: number | null; out: string }>;
  /** Runs the lines until they print `sign`, then ends them. Rejects if they end before. */
  runUntil(code: string, sign: RegExp, environment: { [name: string]: string }): Promise<string>;
}

export interface ShellOptions {
  /** An empty folder. */
  folder: string;
  /** The gateway's URL that replaces the usual address. */
  url: string;
  environment: { [name: string]: string };
}

export const DOCUMENTED_URL = 'http://127.0.0.1:8080';
const LIMIT_MS = 60_000;

/**
 * Commands that this test replaces. `curl` fails if the gateway does. `npx modelport` is the program of this clone, and its `doctor` uses
 * an empty database, because it calls every provider. `npm ci` was done before, and `npm test` runs this test.
 */
const COMMANDS: { readonly [name: string]: string } = {
  curl: 'exec "$REAL_CURL" --silent --show-error --fail-with-body "$@"',
  npx: '[ "$1" = modelport ] || exit 64\nshift\n[ "$1" = doctor ] && export MODELPORT_DATA_DIR="$HOME/.empty"\nexec "$CLONE/bin/modelport" "$@"',
  npm: 'case "$1" in ci|test) ;; start) exec "$REAL_NPM" start --prefix "$CLONE" ;; *) exit 64 ;; esac',
};

export function openShell({ folder, url, environment }: ShellOptions): Shell {
  const commands = join(folder, '.commands');
  const state = join(folder, '.state');
  mkdirSync(commands, { recursive: true });
  for (const [name, script] of Object.entries(COMMANDS)) {
    writeFileSync(join(commands, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(commands, name), 0o755);
  }
  const env = {
    PATH: `${commands}${delimiter}${process.env.PATH}`,
    HOME: folder,
    // With a cache below each folder the launcher would bundle the program once for each document: 3 s of processor time.
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
    CLONE: ROOT,
    REAL_CURL: Bun.which('curl') ?? 'curl',
    REAL_NPM: Bun.which('npm') ?? 'npm',
    ...environment,
  };
  const start = (code: string, more: { [name: string]: string } = {}) => {
    const here = code.replaceAll(DOCUMENTED_URL, url);
    const kept = existsSync(state) ? `. '${state}'\n` : '';
    const script = `${kept}set -ea\ncd '${folder}'\n${here}\nset +a\nexport -p > '${state}'\n`;
    return spawn('sh', ['-c', script], { env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  };
  return {
    run: (code) =>
      new Promise((resolve) => {
        const child = start(code);
        const late = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
        let out = '';
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (bytes: Buffer) => {
            out += bytes.toString();
          });
        child.on('close', (status) => {
          clearTimeout(late);
          resolve({ code: status, out });
        });
      }),
    runUntil: (code, sign, more) =>
      new Promise((resolve, reject) => {
        const child = start(code, more);
        const late = setTimeout(() => end(), LIMIT_MS);
        let out = '';
        let ended = false;
        function end() {
          if (ended || child.pid === undefined) return;
          ended = true;
          process.kill(-child.pid, 'SIGTERM');
        }
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (bytes: Buffer) => {
            out += bytes.toString();
            if (sign.test(out)) end();
          });
        child.on('close', () => {
          clearTimeout(late);
          if (sign.test(out)) resolve(out);
          else reject(new Error(`ended before it printed ${sign}:\n${out}`));
        });
      }),
  };
}

/** The first position where `shown` (an example's output) has a member or type that `real` lacks, or `undefined`. Values may differ. */
export function differenceIn(shown: unknown, real: unknown, path = '$'): string | undefined {
  if (Array.isArray(shown)) {
    if (!Array.isArray(real)) return `${path} is no array`;
    if (shown.length > 0 && real.length === 0) return `${path} is empty`;
    for (const [index, element] of shown.entries()) {
      const found = differenceIn(element, real[Math.min(index, real.length - 1)], `${path}[${index}]`);
      if (found) return found;
    }
    return undefined;
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof real !== 'object' || real === null) return `${path} is no object`;
    for (const [name, value] of Object.entries(shown)) {
      if (!(name in real)) return `${path} has no "${name}"`;
      const found = differenceIn(value, (real as { [name: string]: unknown })[name], `${path}.${name}`);
      if (found) return found;
    }
    return undefined;
  }
  return typeof shown === typeof real ? undefined : `${path} is ${JSON.stringify(real)}`;
}
