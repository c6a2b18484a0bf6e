/** Runs the programs in the documents with a gateway: TypeScript with the official libraries, Python if installed. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientsFolder, installClients } from '../clients/install.ts';
import { DOCUMENTED_URL, snippetsOf, userDocuments } from '../docs/snippets.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';

const PYTHON = Bun.which('python3');
const has = (module: string) => PYTHON !== null && spawnSync(PYTHON, ['-c', `import ${module}`]).status === 0;
const PYTHON_LIBRARIES: { readonly [module: string]: boolean } = {
  openai: has('openai'),
  anthropic: has('anthropic'),
  'google.genai': has('google.genai'),
};
for (const [module, isThere] of Object.entries(PYTHON_LIBRARIES))
  if (!isThere) console.warn(`Python has no ${module}: the documents' programs that import it are skipped.`);

const folder = mkdtempSync(join(tmpdir(), 'modelport-programs-'));
let gateway: GatewayProcess;
beforeAll(async () => {
  await installClients();
  symlinkSync(join(clientsFolder, 'node_modules'), join(folder, 'node_modules'), 'dir');
  gateway = await startGateway();
}, 360_000);
afterAll(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const ENDINGS: { readonly [language: string]: string } = { ts: 'ts', python: 'py' };
const programs = userDocuments()
  .flatMap((document) => snippetsOf(document))
  .filter(({ language }) => language in ENDINGS);

async function run(command: readonly string[]): Promise<{ code: number; out: string }> {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, MODELPORT_KEY: gateway.apiKey, MODELPORT_ADMIN_KEY: gateway.adminKey },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out: out + err };
}

for (const { document, line, language, code } of programs) {
  const missing =
    language === 'python' &&
    Object.entries(PYTHON_LIBRARIES).some(
      ([module, isThere]) => !isThere && new RegExp(`(from|import) ${module.split('.')[0]}\\b`).test(code),
    );
  test.skipIf(missing)(
    `${document}:${line} (${language})`,
    async () => {
      const file = join(folder, `program-${line}-${document.replaceAll(/\W/g, '-')}.${ENDINGS[language]}`);
      writeFileSync(file, code.replaceAll(DOCUMENTED_URL, gateway.url));
      const ran = await run([language === 'python' ? (PYTHON ?? 'python3') : process.execPath, file]);
      expect(ran).toMatchObject({ code: 0 });
      expect(ran.out.trim()).not.toBe('');
    },
    60_000,
  );
}

test('there are programs in both languages', () => {
  expect(new Set(programs.map(({ language }) => language))).toEqual(new Set(Object.keys(ENDINGS)));
});
