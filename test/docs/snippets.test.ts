/** Runs every example in the documents as a reader would: shell, YAML, JSON and TOML. Programs are in test/system/docs-programs.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Documented } from '../../src/http/route.ts';
import { ANSWERED_ROUTES, RELAYED_ROUTES } from '../../src/http/routes.ts';
import { freePort } from '../helpers/free-port.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { differenceIn, openShell, ROOT, type Shell, type Snippet, snippetsOf, userDocuments } from './snippets.ts';

/** Tested elsewhere, or not executable. */
const NOT_RUN_HERE = new Set(['ts', 'python', 'text', '']);
const SHELL = process.platform !== 'win32' && Bun.which('curl') !== null;
if (!SHELL) console.warn('There is no POSIX shell with curl: the shell examples of the documents are skipped.');

const folders: string[] = [];
let gateway: GatewayProcess;
beforeAll(async () => {
  gateway = await startGateway({ environment: { MODELPORT_PUBLIC_URL: '' } });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}, 60_000);

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-docs-'));
  folders.push(folder);
  return folder;
}

/** Variables that examples use; no provider is called with them. */
const NAMED = {
  OPENAI_API_KEY: 'sk-example-openai',
  ANTHROPIC_API_KEY: 'sk-ant-example',
  FIRST_KEY: 'sk-example-1',
  SECOND_KEY: 'sk-example-2',
  OPENROUTER_API_KEY: 'sk-or-example',
  GOOGLE_APPLICATION_CREDENTIALS: 'ya29.example',
  AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'example',
};

function shellOf(folder: string): Shell {
  return openShell({
    folder,
    url: gateway.url,
    environment: {
      MODELPORT_KEY: gateway.apiKey,
      MODELPORT_ADMIN_KEY: gateway.adminKey,
      MODELPORT_URL: gateway.url,
      MODELPORT_DATA_DIR: gateway.dataFolder,
      ...NAMED,
    },
  });
}

async function runShell(snippet: Snippet, shell: Shell): Promise<string> {
  const { code, directive } = snippet;
  if (directive === 'starts') {
    const alone = { PORT: String(await freePort()), MODELPORT_DATA_DIR: newFolder() };
    return shell.runUntil(code, /Modelport listens on/, alone);
  }
  const ran = await shell.run(code);
  const [, failure] = /^fails: (.+)$/.exec(directive ?? '') ?? [];
  if (failure === undefined) expect(ran).toMatchObject({ code: 0 });
  else {
    expect(ran.code).not.toBe(0);
    expect(ran.out).toContain(failure);
  }
  return ran.out;
}

/** `modelport.yaml` is applied; a part of it is inserted into a model; other YAML has its file name in a comment. */
async function readYaml(snippet: Snippet, folder: string, shell: Shell): Promise<void> {
  const read = Bun.YAML.parse(snippet.code) as { [member: string]: unknown };
  if (/^# [\w.-]+\.ya?ml$/m.test(snippet.code) && !('models' in read || 'providers' in read)) return;
  const isPart = 'price' in read;
  const model = { name: 'example', targets: [{ provider: 'example', model: 'example' }], ...read };
  const provider = { name: 'example', type: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' };
  const file = join(folder, 'modelport.yaml');
  writeFileSync(file, isPart ? JSON.stringify({ providers: [provider], models: [model] }) : snippet.code);
  const ran = await shell.run('npx modelport apply -f modelport.yaml');
  expect(ran).toMatchObject({ code: 0 });
}

/** A part of an nginx configuration, tested if nginx is installed. */
async function testNginx(code: string, folder: string): Promise<void> {
  const nginx = Bun.which('nginx');
  if (nginx === null) return;
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `pid ${folder}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${code}}\n`);
  const child = Bun.spawn([nginx, '-t', '-c', file, '-p', folder], { stdout: 'ignore', stderr: 'pipe' });
  expect([await child.stderr.text(), await child.exited]).toEqual([expect.any(String), 0]);
}

/** Whether an example needs a command that this machine does not have. */
function isMissing({ document, directive }: Snippet): boolean {
  const [, command] = /^needs: (.+)$/.exec(directive ?? '') ?? [];
  if (command === undefined || Bun.which(command) !== null) return false;
  console.warn(`There is no ${command}: examples of ${document} are skipped.`);
  return true;
}

/** What is not run is at least well-formed. */
function parse({ language, code }: Snippet): void {
  if (language === 'json') JSON.parse(code);
  else if (language === 'yaml') Bun.YAML.parse(code);
  else if (language === 'toml') Bun.TOML.parse(code);
  else if (language === 'sh') {
    const ran = Bun.spawnSync(['sh', '-n'], { stdin: Buffer.from(code), stderr: 'pipe' });
    expect([ran.stderr.toString(), ran.exitCode]).toEqual(['', 0]);
  }
}

async function runDocument(snippets: readonly Snippet[]): Promise<void> {
  const folder = newFolder();
  const shell = shellOf(folder);
  let out: string | undefined;
  for (const snippet of snippets) {
    const before = out;
    out = undefined;
    const at = `${snippet.document}:${snippet.line}`;
    try {
      if (snippet.directive?.startsWith('not run')) parse(snippet);
      if (snippet.directive?.startsWith('not run') || isMissing(snippet)) continue;
      if (snippet.language === 'sh') out = await runShell(snippet, shell);
      else if (snippet.language === 'yaml') await readYaml(snippet, folder, shell);
      else if (snippet.language === 'toml') Bun.TOML.parse(snippet.code);
      else if (snippet.language === 'nginx') await testNginx(snippet.code, folder);
      else if (snippet.language === 'json') {
        const shown: unknown = JSON.parse(snippet.code);
        if (before !== undefined)
          expect(differenceIn(shown, JSON.parse(before.trim().split('\n').at(-1) ?? ''))).toBeUndefined();
      } else if (!NOT_RUN_HERE.has(snippet.language)) throw new Error(`no runner for ${snippet.language}`);
    } catch (thrown) {
      throw new Error(`${at}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { cause: thrown });
    }
  }
}

describe('every example works', () => {
  for (const document of userDocuments()) {
    const snippets = snippetsOf(document);
    if (snippets.length > 0) test.skipIf(!SHELL)(document, () => runDocument(snippets), 120_000);
  }
});

test('examples are found with language and directive, and outputs are compared with their examples', () => {
  const text = 'a\n\n<!-- fails: no_key -->\n```sh\nls\n```\n\n```json\n{}\n```\n';
  expect(snippetsOf('x.md', text)).toEqual([
    { document: 'x.md', line: 5, language: 'sh', code: 'ls\n', directive: 'fails: no_key' },
    { document: 'x.md', line: 9, language: 'json', code: '{}\n', directive: undefined },
  ]);
  expect(differenceIn({ a: [{ b: 'x' }] }, { a: [{ b: 'y', c: 1 }], d: 2 })).toBeUndefined();
  expect(differenceIn({ a: [{ b: 'x' }] }, { a: [{ b: 1 }] })).toBe('$.a[0].b is 1');
  expect(differenceIn({ a: 1 }, { b: 1 })).toBe('$ has no "a"');
});

test('the API reference and the admin API list every endpoint and no other', () => {
  const pages = ['docs/api.md', 'docs/reference/admin-api.md']
    .map((page) => readFileSync(join(ROOT, page), 'utf8'))
    .join('\n');
  const shown = ({ path, reading }: Documented) => reading?.shown ?? path.replace(/:(\w+)(\{[^}]*\})?/g, '{$1}');
  const routes = [...RELAYED_ROUTES, ...ANSWERED_ROUTES].map(shown);
  // Two prefixes of one path count as one.
  const aliases = (path: string) => [
    path,
    path.replace('/vendor-a/', '/kling/'),
    path.replace(/^\/v1\/models\//, '/v1beta/models/'),
    path.replace(/^\/dashboard\//, '/v1/dashboard/'),
    path.replace(/\/\{id\}$/, ''),
    path.replace('/vendor-a/', '/kling/').replace(/\/\{id\}$/, ''),
  ];
  expect(routes.filter((route) => !aliases(route).some((path) => pages.includes(`\`${path}\``)))).toEqual([]);
  const documented = [...pages.matchAll(/^\| (?:GET|POST|PUT|PATCH|DELETE)[^|]*\|/gm)].flatMap(([row]) =>
    [...row.matchAll(/`(\/[^`]*)`/g)].map(([, path = '']) => path),
  );
  expect(documented.length).toBeGreaterThan(50);
  const elsewhere = new Set(['/metrics', '/openapi.json', '/vendor-a', '/dashboard', '/v1', '/v1beta']);
  const known = new Set([...routes, ...elsewhere]);
  expect(documented.filter((path) => !known.has(path))).toEqual([]);
});
