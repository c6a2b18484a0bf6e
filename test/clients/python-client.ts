/** The client matrix in Python: which library is asked in which format. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClientChild, talkTo } from './child.ts';
import { clientsFolder } from './install.ts';
import type { MatrixCall, MatrixClient, MatrixView } from './matrix-client.ts';
import { REQUIREMENTS } from './python/install.ts';

/** The first answer waits for the libraries to be loaded. */
const LOADED_MS = 120_000;

export const PYTHON_MATRIX: readonly MatrixClient[] = [
  { library: 'openai (Python)', packages: ['openai'], formats: ['openai-chat', 'openai-responses'], structured: true },
  { library: 'anthropic (Python)', packages: ['anthropic'], formats: ['anthropic-messages'], structured: true },
  { library: 'google-genai (Python)', packages: ['google-genai'], formats: ['gemini'], structured: true },
  {
    library: 'langchain (Python)',
    packages: ['langchain-openai', 'langchain-anthropic'],
    formats: ['openai-chat', 'openai-responses', 'anthropic-messages'],
    structured: true,
  },
];

export function startPythonClient(program: string): ClientChild<MatrixCall, MatrixView> {
  const child = talkTo<MatrixCall, MatrixView>(program, [join(clientsFolder, 'python', 'matrix.py')]);
  return { run: (call) => child.run(call, LOADED_MS), stop: () => child.stop() };
}

/** As pinned: `openai 3.54.0`. */
export function pythonVersionsOf({ packages }: MatrixClient): string[] {
  const pinned = readFileSync(REQUIREMENTS, 'utf8');
  return packages.map((name) => {
    const [, version] = new RegExp(`^${name}==(.+)$`, 'm').exec(pinned) ?? [];
    if (version === undefined) throw new Error(`${name} is pinned nowhere.`);
    return `${name} ${version}`;
  });
}
