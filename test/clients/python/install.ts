/**
 * Installs the Python libraries into a cache folder of the user, once for each set of pinned versions: with uv, or with pip if uv is not
 * available. As a program it installs them before the tests (`.ci/run` does so in the background).
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { claim } from '../claim.ts';

const FOLDER = import.meta.dirname;
/** Sets of pinned packages: LiteLLM needs an older `openai` than the newest. */
export const REQUIREMENTS = {
  libraries: join(FOLDER, 'requirements.txt'),
  litellm: join(FOLDER, 'requirements-litellm.txt'),
} as const;
export type Installed = keyof typeof REQUIREMENTS;

/** The time limit of an installation, also for a test that waits for one. */
const BOUND_MS = 240_000;
const UV = '0.13.9';
const SKIPPED = 'the Python clients are skipped.';

/** The minor version of Python that the libraries need. */
const LEAST_MINOR = 10;

export interface Python {
  /** A Python with the libraries; absent: the reason is given. */
  program?: string;
  missing?: string;
}

export async function installPython(what: Installed): Promise<Python> {
  const requirements = REQUIREMENTS[what];
  const version = versionOf('python3');
  if (version === undefined) return missing(`No Python of at least 3.${LEAST_MINOR}`);
  const key = createHash('sha256').update(readFileSync(requirements)).update(version).digest('hex').slice(0, 16);
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const folder = join(cache, 'modelport-test', `python-${key}`);
  const done = join(folder, '.done');
  const installing = `${folder}.installing`;
  const program = join(folder, 'venv', 'bin', 'python');
  const deadline = Date.now() + BOUND_MS;
  mkdirSync(join(cache, 'modelport-test'), { recursive: true });
  while (!existsSync(done)) {
    if (Date.now() > deadline) return missing(`Their installation did not end within ${BOUND_MS / 1000} s`);
    if (!claim(installing, BOUND_MS)) {
      await Bun.sleep(500);
      continue;
    }
    try {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      const failure = install(folder, program, requirements, deadline);
      if (failure !== undefined) return missing(failure);
      writeFileSync(done, '');
    } finally {
      rmSync(installing, { recursive: true, force: true });
    }
  }
  return { program };
}

function missing(reason: string): Python {
  console.warn(`${reason}: ${SKIPPED}`);
  return { missing: reason };
}

function versionOf(python: string): string | undefined {
  const { status, stdout } = spawnSync(python, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
    encoding: 'utf8',
  });
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
  return status === 0 && major === '3' && Number(minor) >= LEAST_MINOR ? `3.${minor}` : undefined;
}

/** The reason if it failed. Nothing is compiled beforehand: most modules are never imported, the others once, by one child. */
function install(folder: string, python: string, requirements: string, deadline: number): string | undefined {
  const shared = dirname(folder);
  const run = (program: string, ...args: string[]) =>
    spawnSync(program, args, {
      stdio: ['ignore', 'ignore', 'ignore'],
      timeout: Math.max(1, deadline - Date.now()),
      env: { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1', UV_CACHE_DIR: join(shared, 'uv-cache') },
    }).status === 0;
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-compile'];
  const tools = join(shared, `uv-${UV}`);
  const uv = join(tools, 'bin', 'uv');
  const venv = join(folder, 'venv');
  if (!existsSync(uv)) {
    const own = join(folder, 'tools');
    run('python3', ...pip, '--target', own, `uv==${UV}`);
    try {
      renameSync(own, tools);
    } catch {
      // It failed, or who installs the other set was first.
    }
  }
  if (
    run(uv, 'venv', '--quiet', '--python', 'python3', venv) &&
    run(uv, 'pip', 'install', '--quiet', '--python', python, '--requirement', requirements)
  )
    return undefined;
  rmSync(venv, { recursive: true, force: true });
  if (run('python3', '-m', 'venv', venv) && run(python, ...pip, '--requirement', requirements)) return undefined;
  return 'Neither uv nor pip could install the Python libraries in time';
}

if (import.meta.main) {
  await installPython('libraries');
  await installPython('litellm');
}
