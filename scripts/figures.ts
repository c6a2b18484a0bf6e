/** `npm run figures`: how the code is laid out, in figures that are compared from release to release; `--list` names the places too. */
import { basename, dirname } from 'node:path/posix';
import { describeRoutes } from '../src/http/openapi/describe.ts';
import { route } from '../src/http/route.ts';
import { ANSWERED_ROUTES, RELAYED_ROUTES } from '../src/http/routes.ts';
import { importGraph } from './check-arrows.ts';
import { publicWordFaults } from './check-words.ts';
import { cyclesIn } from './import-cycles.ts';
import { isTest, readSources, type SourceFile } from './source-files.ts';
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
  const figures: Figure[] = [
    { name: 'files and lines of src/, tests left out', ...sizeOf(source) },
    fullFolders(source),
    shortFiles(source),
    ...repeatedNames(source),
    testedFiles(source),
    importCycles(source),
    { name: 'retired words in public text', value: String(words.length), places: words },
    ...describedOperations(openapi()),
    ...testTiers(all),
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
