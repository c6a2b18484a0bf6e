/** The client matrix in Python: each library and its formats. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClientChild, talkTo } from './child.ts';
import { clientsFolder } from './install.ts';
import type { MatrixCall, MatrixClient, MatrixView } from './matrix-client.ts';
import { type Installed, REQUIREMENTS } from './python/install.ts';

/** The first answer waits until the libraries are loaded, and compiled where they were just installed. */
const LOADED_MS = 220_000;

/** By the set of packages that are installed together. */
export const PYTHON_MATRIX: { readonly [what in Installed]: readonly MatrixClient[] } = {
  libraries: [
    {
      library: 'openai (Python)',
      packages: ['openai'],
      formats: ['openai-chat', 'openai-responses'],
      structured: true,
    },
    { library: 'anthropic (Python)', packages: ['anthropic'], formats: ['anthropic-messages'], structured: true },
    { library: 'google-genai (Python)', packages: ['google-genai'], formats: ['gemini'], structured: true },
    {
      library: 'langchain (Python)',
      packages: ['langchain-openai', 'langchain-anthropic'],
      formats: ['openai-chat', 'openai-responses', 'anthropic-messages'],
      structured: true,
    },
  ],
  litellm: [
    {
      library: 'litellm (Python)',
      packages: ['litellm'],
      formats: ['openai-chat', 'anthropic-messages'],
      structured: true,
    },
  ],
};

export function startPythonClient(program: string): ClientChild<MatrixCall, MatrixView> {
  const child = talkTo<MatrixCall, MatrixView>(program, [join(clientsFolder, 'python', 'matrix.py')]);
  return { run: (call) => child.run(call, LOADED_MS), stop: () => child.stop() };
}

/** The exact pinned versions: `openai 3.54.0`. */
export function pythonVersionsOf({ packages }: MatrixClient, what: Installed): string[] {
  const pinned = readFileSync(REQUIREMENTS[what], 'utf8');
  return packages.map((name) => {
    const [, version] = new RegExp(`^${name}==(.+)$`, 'm').exec(pinned) ?? [];
    if (version === undefined) throw new Error(`${name} is pinned nowhere.`);
    return `${name} ${version}`;
  });
}
