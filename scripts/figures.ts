/**
 * `npm run figures`: the code and its documents in figures that are compared from release to release; `--list` names the places too.
 * It also counts what a call runs through (`call-footprint.ts`), and with `--tests` how long `npm test` takes.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basename, dirname } from 'node:path/posix';
import { describeRoutes } from '../src/http/openapi/describe.ts';
import { route } from '../src/http/route.ts';
import { ANSWERED_ROUTES, RELAYED_ROUTES } from '../src/http/routes.ts';
import { importGraph } from './check-arrows.ts';
import { publicWordFaults } from './check-words.ts';
import { cyclesIn } from './import-cycles.ts';
import { repeatedBlocks } from './repeated-blocks.ts';
import { isTest, ROOT, readSources, type SourceFile } from './source-files.ts';
import { isNode, parse, type SyntaxNode, walkSyntax } from './syntax.ts';

/** One figure: its name, its value, and the places that it counts. */
export interface Figure {
  name: string;
  value: string;
  places: readonly string[];
}

const MOST_FILES = 25;
const FEW_LINES = 15;

/** Folders of `src/` with more files than a reader takes in at once, tests left out. */
export function fullFolders(files: readonly SourceFile[]): Figure {
  const code = files.filter(({ path }) => !isTest(path));
  const byFolder = [...Map.groupBy(code, ({ path }) => dirname(path))];
  const full = byFolder.filter(([, all]) => all.length > MOST_FILES).toSorted((a, b) => b[1].length - a[1].length);
  const places = full.map(([folder, all]) => `${folder}: ${all.length}`);
  return { name: `folders of src/ with more than ${MOST_FILES} files`, value: String(places.length), places };
}

/** Files that stand directly in a module's folder, tests left out: without folders inside, a module is a list. */
export function looseFiles(files: readonly SourceFile[], folders: readonly string[]): Figure[] {
  return folders.map((folder) => {
    const loose = files.filter(({ path }) => !isTest(path) && dirname(path) === folder).map(({ path }) => path);
    return { name: `files directly in ${folder}/`, value: String(loose.length), places: loose };
  });
}

/** Documents that are not in the repository: a reader cannot follow such a reference. */
const OUTSIDE =
  /\bspecification,? (section )?\d|\bsection \d+(\.\d+)* of the specification\b|\b(behaviour|wire|style|attack)\.md\b/i;

export function outsideReferences(files: readonly SourceFile[]): Figure {
  const places = files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (OUTSIDE.test(line) ? [`${path}:${at + 1}`] : [])),
  );
  return { name: 'references to documents outside the repository', value: String(places.length), places };
}

export function shortFiles(files: readonly SourceFile[]): Figure {
  const places = files
    .filter(({ path }) => !isTest(path))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines <= FEW_LINES)
    .map(({ path, lines }) => `${path}: ${lines}`);
  return { name: `files of src/ with at most ${FEW_LINES} lines`, value: String(places.length), places };
}

/** Names that several files export: a reader who looks one up finds another thing. Names within a file are its own. */
export function repeatedNames(files: readonly SourceFile[]): Figure[] {
  const types = new Map<string, string[]>();
  const values = new Map<string, string[]>();
  for (const { path, text } of files) {
    if (isTest(path)) continue;
    for (const { name, isType } of declarationsIn(path, text)) {
      const table = isType ? types : values;
      table.set(name, [...(table.get(name) ?? []), path]);
    }
  }
  return [
    repeated('types declared in more than one file', types),
    repeated('functions and values exported by more than one file', values),
  ];
}

function repeated(name: string, table: ReadonlyMap<string, readonly string[]>): Figure {
  const several = [...table].filter(([, paths]) => paths.length > 1).toSorted((a, b) => b[1].length - a[1].length);
  const places = several.map(([word, paths]) => `${word} (${paths.length}): ${paths.join(', ')}`);
  return { name, value: String(places.length), places };
}

const TYPES = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration']);

/** Types and classes of the file, and what else it exports. */
function* declarationsIn(path: string, text: string): Generator<{ name: string; isType: boolean }> {
  const { program } = parse(path, text);
  for (const statement of program.body as SyntaxNode[]) {
    const isExported = statement.type === 'ExportNamedDeclaration';
    const node = isExported && isNode(statement.declaration) ? statement.declaration : statement;
    if (TYPES.has(node.type)) yield { name: nameIn(node.id), isType: true };
    else if (isExported && node.type === 'FunctionDeclaration') yield { name: nameIn(node.id), isType: false };
    else if (isExported && node.type === 'VariableDeclaration')
      for (const one of node.declarations as SyntaxNode[]) yield { name: nameIn(one.id), isType: false };
  }
}

const nameIn = (node: unknown) => String((node as { name?: unknown } | null)?.name ?? '');

/** Files of the gateway that a unit test of the gateway imports. */
export function testedFiles(files: readonly SourceFile[], folder = 'src/gateway/'): Figure {
  const inside = files.filter(({ path }) => path.startsWith(folder));
  const code = inside.filter(({ path }) => !isTest(path)).map(({ path }) => path);
  const graph = importGraph(inside.filter(({ path }) => isTest(path)));
  const tested = new Set([...graph.values()].flat());
  const untested = code.filter((path) => !tested.has(path));
  return {
    name: `files of ${folder} that a unit test beside them imports`,
    value: `${code.length - untested.length} of ${code.length}`,
    places: untested.map((path) => `not: ${path}`),
  };
}

export function importCycles(files: readonly SourceFile[]): Figure {
  const cycles = cyclesIn(importGraph(files.filter(({ path }) => !isTest(path))));
  return { name: 'import cycles', value: String(cycles.length), places: cycles.map((cycle) => cycle.join(' > ')) };
}

interface Described {
  paths: { [path: string]: { [method: string]: Operation } };
  components: { schemas: { [name: string]: { properties?: object } } };
}
interface Operation {
  operationId: string;
  requestBody?: { content: object };
  responses: { [status: string]: { content?: object } };
}

/** How much of `/openapi.json` says what goes in and what comes out. */
export function describedOperations({ paths }: Described): Figure[] {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const good = (operation: Operation) => JSON.stringify(operation.responses['200'] ?? operation.responses['201'] ?? {});
  const figure = (name: string, isMeant: (operation: Operation) => boolean, of = operations): Figure => {
    const without = of.filter((operation) => !isMeant(operation));
    const places = without.map(({ operationId }) => `not: ${operationId}`);
    return { name: `operations with ${name}`, value: `${of.length - without.length} of ${of.length}`, places };
  };
  const asked = operations.filter(({ requestBody }) => requestBody !== undefined);
  return [
    figure('an operationId', ({ operationId }) => Boolean(operationId)),
    figure('a schema of the response', (one) => good(one).includes('"schema"')),
    figure('an example of the response', (one) => /"examples?"/.test(good(one))),
    figure(
      'a schema of the request, of those with a body',
      (one) => JSON.stringify(one.requestBody).includes('"schema"'),
      asked,
    ),
    figure(
      'an example of the request, of those with a body',
      (one) => /"examples?"/.test(JSON.stringify(one.requestBody)),
      asked,
    ),
    figure('`text/event-stream`', (one) => good(one).includes('text/event-stream')),
  ].map((one, index) => (index === 5 ? { ...one, places: [] } : one));
}

/** Members of each chat format's request that `/openapi.json` describes. */
export function describedMembers({ components: { schemas } }: Described): Figure[] {
  const requests = ['ChatCompletionRequest', 'ResponsesRequest', 'MessagesRequest', 'GenerateContentRequest'];
  return requests.map((name) => {
    const members = Object.keys(schemas[name]?.properties ?? {});
    return { name: `members of ${name} in /openapi.json`, value: String(members.length), places: members };
  });
}

/** What the recommended rules of Redocly find, if the linter is installed: `test/system/openapi-tools.test.ts` installs and runs it. */
function redocly(document: object): Figure {
  const name = "Redocly's recommended rules on /openapi.json";
  const cli = join(ROOT, 'test/openapi/tools/node_modules/@redocly/cli/bin/cli.js');
  if (!existsSync(cli)) return { name, value: 'not installed: npm ci --prefix test/openapi/tools', places: [] };
  const folder = mkdtempSync(join(tmpdir(), 'modelport-figures-'));
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const ran = Bun.spawnSync(['node', cli, 'lint', 'openapi.json', '--format=json'], { cwd: folder, env });
    const { totals, problems } = JSON.parse(ran.stdout.toString()) as {
      totals: { errors: number; warnings: number };
      problems: { ruleId: string; message: string }[];
    };
    const places = problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
    return { name, value: `${totals.errors} errors, ${totals.warnings} warnings`, places };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The words of a document, code and tables included. */
function wordsOf(path: string): Figure {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const words = text.split(/\s+/).length - 1;
  return { name: path, value: `${words} words, ${text.split('\n').length - 1} lines`, places: [] };
}

/** Commits whose message says more than a subject. */
function commitsWithBody(): Figure {
  const name = 'commits with a body';
  const ran = Bun.spawnSync(['git', 'log', '--no-merges', '--format=%b%x00'], { cwd: ROOT, stderr: 'ignore' });
  if (!ran.success) return { name, value: 'not a clone', places: [] };
  const bodies = ran.stdout.toString().split('\0').slice(0, -1);
  return { name, value: `${bodies.filter((body) => body.trim() !== '').length} of ${bodies.length}`, places: [] };
}

/** What a call runs through, a line for each kind of call. */
function callFootprints(): Figure[] {
  const ran = Bun.spawnSync([process.execPath, 'scripts/call-footprint.ts'], { cwd: ROOT, stderr: 'inherit' });
  if (!ran.success) throw new Error('scripts/call-footprint.ts failed.');
  const lines = ran.stdout.toString().trim().split('\n');
  return lines.map((line) => {
    const [kind = '', value = ''] = line.split(/ {2,}/);
    return { name: `a call, ${kind}`, value, places: [] };
  });
}

function timeOfTests(): Figure {
  const startedAt = performance.now();
  const ran = Bun.spawnSync([process.execPath, 'scripts/test.ts'], { cwd: ROOT, stdout: 'ignore', stderr: 'ignore' });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return { name: 'npm test', value: `${seconds} s, exit code ${ran.exitCode}`, places: [] };
}

/** Files and cases of each tier; a table of cases counts as one. */
export function testTiers(files: readonly SourceFile[]): Figure[] {
  const tests = files.filter(({ path }) => isTest(path));
  const tiers: readonly (readonly [name: string, isMeant: (path: string) => boolean])[] = [
    ['unit (beside their code)', (path) => /^(src|scripts|bench)\//.test(path)],
    ['in-process and e2e (npm test)', (path) => path.startsWith('test/') && !path.startsWith('test/system/')],
    ['system (npm run test:all)', (path) => path.startsWith('test/system/')],
  ];
  return tiers.map(([name, isMeant]) => {
    const tier = tests.filter(({ path }) => isMeant(path));
    const cases = tier.reduce((sum, file) => sum + casesIn(file), 0);
    return { name: `tests, ${name}`, value: `${cases} in ${tier.length} files`, places: [] };
  });
}

function casesIn({ path, text }: SourceFile): number {
  let count = 0;
  walkSyntax(parse(path, text).program, (node) => {
    if (node.type !== 'CallExpression') return;
    let callee = node.callee as SyntaxNode;
    while (callee.type === 'MemberExpression' || callee.type === 'CallExpression')
      callee = (callee.type === 'MemberExpression' ? callee.object : callee.callee) as SyntaxNode;
    // `test.each(table)(name, body)` is two calls: the outer one is the case.
    const isCase = nameIn(callee) === 'test' && (node.arguments as SyntaxNode[]).length >= 2;
    if (isCase) count++;
  });
  return count;
}

function openapi(): Described {
  const open = (path: string) =>
    route('GET', path, { gate: 'open', summary: 'Of the edge itself.', answer: () => ({}) });
  const rows = [...RELAYED_ROUTES, ...ANSWERED_ROUTES, open('/metrics'), open('/openapi.json')];
  return describeRoutes(rows, { version: '0.0.0' }) as Described;
}

if (import.meta.main) {
  const isListed = process.argv.includes('--list');
  const source = readSources(['src']);
  const all = [...source, ...readSources(['scripts', 'bench', 'test'])];
  const words = publicWordFaults();
  const web = readSources(['web/src']);
  const blocks = repeatedBlocks([...all, ...web]);
  const document = openapi();
  const figures: Figure[] = [
    { name: 'files and lines of src/, tests left out', ...sizeOf(source) },
    fullFolders(source),
    ...looseFiles(source, ['src/dialects', 'src/providers', 'src/http']),
    shortFiles(source),
    ...repeatedNames(source),
    { name: 'blocks of six lines or more in two places', value: String(blocks.length), places: blocks },
    testedFiles(source),
    testedFiles(source, 'src/conversations/'),
    importCycles([...source, ...web]),
    { name: 'retired words in public text', value: String(words.length), places: words },
    outsideReferences(all.filter(({ path }) => !path.startsWith('scripts/figures'))),
    ...describedOperations(document),
    ...describedMembers(document),
    redocly(document),
    ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'].map(wordsOf),
    commitsWithBody(),
    ...callFootprints(),
    ...testTiers(all),
    ...(process.argv.includes('--tests') ? [timeOfTests()] : []),
  ];
  const width = Math.max(...figures.map(({ name }) => name.length));
  for (const { name, value, places } of figures) {
    console.log(`${name.padEnd(width)}  ${value}`);
    if (isListed) for (const place of places) console.log(`    ${place}`);
  }
}

function sizeOf(files: readonly SourceFile[]): Omit<Figure, 'name'> {
  const code = files.filter(({ path }) => !isTest(path));
  const lines = code.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
  const folders = new Set(code.map(({ path }) => dirname(path)));
  const names = new Set(code.map(({ path }) => basename(path)));
  return {
    value: `${code.length} files, ${lines} lines, ${folders.size} folders, ${names.size} file names`,
    places: [],
  };
}
