/** Checks which file may import which, and what only one module may do. */
import { dirname, join } from 'node:path/posix';
import { cyclesIn } from './import-cycles.ts';
import { type Fault, isTest, readSources, report, type SourceFile } from './source-files.ts';
import { isNode, lineAt, parse, type Syntax, type SyntaxNode, walkSyntax } from './syntax.ts';

/** The ladder: a module imports only from lower rungs, never from its own rung or above. */
export const RUNGS: { readonly [moduleName: string]: number } = {
  canonical: 0,
  // Imports no other module, so that it could be published separately.
  http1: 0,
  dialects: 1,
  store: 1,
  transport: 1,
  'log.ts': 1,
  files: 1,
  providers: 2,
  sandbox: 2,
  routing: 1,
  catalog: 2,
  access: 2,
  ledger: 2,
  telemetry: 2,
  conversations: 2,
  alerts: 3,
  gateway: 3,
  people: 3,
  tasks: 4,
  http: 5,
  cli: 5,
  // Parts of config.ts.
  config: 5,
  'config.ts': 6,
  main: 7,
};

/** Files that build and start the application. They count as one module, the only one that knows all others. */
const MAIN_FILES = new Set([
  'main.ts',
  'start-variables.ts',
  'serve.ts',
  'processes.ts',
  'process-messages.ts',
  'watchdog.ts',
  'watchdog-worker.ts',
  'app.ts',
  'reload.ts',
  'apply-file.ts',
  'bootstrap.ts',
  'greeting.ts',
  'rotate-secrets.ts',
  'servers.ts',
  'found-providers.ts',
  'hourly-calls.ts',
  'idle-collection.ts',
  'live-checks.ts',
  'model-lists.ts',
  'retention.ts',
  'start-listing.ts',
]);

/** Modules with a table whose rows never import each other. */
const TABLES: { readonly [moduleName: string]: { index: string; shared: readonly string[] } } = {
  dialects: { index: 'src/dialects/index.ts', shared: ['dialect.ts'] },
  // The factory of the whole family; its own row is that factory without settings.
  providers: { index: 'src/providers/index.ts', shared: ['provider.ts', 'chat/openai-compatible.ts'] },
};

const FORBIDDEN_NAMES = new Set([
  'utils',
  'util',
  'helpers',
  'helper',
  'common',
  'services',
  'managers',
  'misc',
  'lib',
]);
const KEBAB = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d)?(\.ts)?$/;
/** Capital letters distinguish a query from a sentence that begins with "select". */
const SQL_QUERY = /^\s*SELECT\s[\s\S]+\bFROM\b/;
const SQL_COMMAND =
  /^\s*(insert\s+(or\s+\w+\s+)?into|update\s+\w+\s+set|delete\s+from|create\s+(unique\s+)?(table|index)|alter\s+table|drop\s+(table|index)|pragma\s+\w+)\b/i;
const NET_MODULES = new Set(['node:net', 'node:tls', 'node:http', 'node:https', 'node:http2', 'node:dgram']);
/** The names of `node:net` that only concern addresses. */
const ADDRESS_NAMES = new Set(['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress']);
const SQL_MODULES = new Set(['bun:sqlite', 'node:sqlite']);
/** Takes some ms of every start, and few processes need it: it is loaded when it is first used, by `process.getBuiltinModule`. */
const SLOW_MODULE = /^node:(zlib|net|tls|https?|http2|dgram|dns|stream|child_process)\b/;

/** Names that only their tables know; other code must not compare with them. */
export interface KnownNames {
  dialects: readonly string[];
  providers: readonly string[];
  engines: readonly string[];
}

export function arrowFaults(files: readonly SourceFile[], names: KnownNames): Fault[] {
  const parsed = files.map((file) => ({ file, syntax: parse(file.path, file.text) }));
  const rows = new Map(
    Object.entries(TABLES).map(([moduleName, { index, shared }]) => {
      const table = parsed.find(({ file }) => file.path === index);
      return [moduleName, table ? tableRows(moduleName, table.file, table.syntax, shared) : new Set<string>()];
    }),
  );
  const code = parsed.filter(({ file }) => !isTest(file.path));
  const imports = graphOf(code);
  const faults = parsed.flatMap(({ file, syntax }) => [
    ...nameFaults(file.path),
    ...importFaults(file, syntax, rows),
    ...(isTest(file.path) ? [] : deedFaults(file, syntax, names)),
  ]);
  return [...faults, ...cycleFaults(imports)];
}

/** What each file imports of ours. */
export function importGraph(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  return graphOf(files.map((file) => ({ file, syntax: parse(file.path, file.text) })));
}

/** Cycles among the files of another program, such as the console. */
export function cyclesOf(files: readonly SourceFile[]): Fault[] {
  return cycleFaults(importGraph(files.filter(({ path }) => !isTest(path))));
}

function graphOf(parsed: readonly { file: SourceFile; syntax: Syntax }[]): Map<string, string[]> {
  return new Map(
    parsed.map(({ file, syntax }) => [file.path, importsOf(file, syntax).flatMap(({ path }) => path ?? [])]),
  );
}

function nameFaults(path: string): Fault[] {
  const faults: Fault[] = [];
  for (const part of path.split('/')) {
    if (FORBIDDEN_NAMES.has(part.replace(/\.ts$/, '')))
      faults.push(`${path}: "${part}" says nothing about its content`);
    if (!KEBAB.test(part)) faults.push(`${path}: "${part}" is not kebab-case`);
  }
  if (path.endsWith('/index.ts') && !Object.values(TABLES).some(({ index }) => index === path))
    faults.push(`${path}: import a module through the file with its name, or its table: barrel files are not allowed`);
  if (moduleOf(path) === undefined) faults.push(`${path}: its module has no rung in check-arrows.ts`);
  return faults;
}

/**
 * The module of a file in `src/`: its folder, or the file itself if it is not in a folder. `undefined` if the ladder has no such module.
 */
function moduleOf(path: string): string | undefined {
  const name = (path.split('/')[1] ?? '').replace(/\.test\.ts$/, '.ts');
  if (MAIN_FILES.has(name)) return 'main';
  return name in RUNGS ? name : undefined;
}

/** Files that import each other can only be read together, so cycles are faults. Imports of types count. */
function cycleFaults(imports: ReadonlyMap<string, readonly string[]>): Fault[] {
  return cyclesIn(imports).map((cycle) => `${[...cycle, cycle[0]].join(' -> ')}: a cycle of imports`);
}

interface Import {
  from: string;
  /** The module as written; a relative one as a path of the repository. */
  module: string;
  path: string | undefined;
  names: readonly string[];
  typeOnly: boolean;
  /** By `import()`. */
  isDynamic?: true;
  start: number;
}

function importsOf({ path, text }: SourceFile, { module }: Syntax): Import[] {
  const make = (name: string, start: number, typeOnly: boolean, names: string[] = []): Import => ({
    from: path,
    module: name,
    path: name.startsWith('.') ? join(dirname(path), name) : undefined,
    names,
    typeOnly,
    start,
  });
  return [
    ...module.staticImports.map(({ moduleRequest, entries, start }) => {
      const typeOnly = entries.length > 0 && entries.every(({ isType }) => isType);
      return make(
        moduleRequest.value,
        start,
        typeOnly,
        entries.map(({ importName }) => importName.name ?? '*'),
      );
    }),
    ...module.staticExports.flatMap(({ entries, start }) =>
      entries.flatMap(({ moduleRequest, isType }) => (moduleRequest ? [make(moduleRequest.value, start, isType)] : [])),
    ),
    ...module.dynamicImports.map(({ moduleRequest, start }) => ({
      ...make(text.slice(moduleRequest.start, moduleRequest.end).replace(/['"`]/g, ''), start, false),
      isDynamic: true as const,
    })),
  ];
}

/** The rows of a table: what its index imports as values, except the shared files. */
function tableRows(moduleName: string, index: SourceFile, syntax: Syntax, shared: readonly string[]): Set<string> {
  const units = importsOf(index, syntax)
    .filter(({ path, typeOnly }) => !typeOnly && path?.startsWith(`src/${moduleName}/`))
    .map(({ path = '' }) => unitOf(path));
  return new Set(units.filter((unit) => !shared.includes(unit)));
}

/** The folder or file of a table's row: the path below its module and group (`chat/gemini`, `images/imagen.ts`). */
const unitOf = (path: string): string =>
  path
    .replace(/\.test\.ts$/, '.ts')
    .split('/')
    .slice(2, 4)
    .join('/');

function importFaults(file: SourceFile, syntax: Syntax, rows: ReadonlyMap<string, ReadonlySet<string>>): Fault[] {
  return importsOf(file, syntax).flatMap((one) => {
    const why = one.path === undefined ? packageFault(one) : arrowFault(one, one.path, rows);
    return why ? [`${file.path}:${lineAt(file.text, one.start)}: imports ${one.module}: ${why}`] : [];
  });
}

function packageFault({ from, module, names, typeOnly, isDynamic }: Import): string | undefined {
  if (isTest(from)) return undefined;
  const moduleName = moduleOf(from);
  if ((module === 'hono' || module.startsWith('hono/')) && moduleName !== 'http')
    return 'only http/ knows the framework';
  if (SQL_MODULES.has(module) && moduleName !== 'store') return 'only store/ opens a database';
  const connects = names.length === 0 || names.some((name) => !ADDRESS_NAMES.has(name));
  if (NET_MODULES.has(module) && !CONNECTING_MODULES.has(moduleName ?? '') && connects)
    return 'only http1/ and transport/ open a connection';
  if (SLOW_MODULE.test(module) && !typeOnly && !isDynamic && !OUTSIDE_START.test(from))
    return 'use process.getBuiltinModule where it is needed: a start would load it';
  return undefined;
}

/** Files that are no part of what a start loads. */
const OUTSIDE_START = /-worker\.ts$|\/fuzz\//;

function arrowFault(one: Import, path: string, rows: ReadonlyMap<string, ReadonlySet<string>>): string | undefined {
  if (!/\.(ts|json)$/.test(path)) return 'write the file name with its extension';
  if (path === 'package.json' || (isTest(one.from) && path.startsWith('test/'))) return undefined;
  if (!path.startsWith('src/')) return 'src/ must not import other folders';
  const from = moduleOf(one.from);
  const to = moduleOf(path);
  if (from === undefined || to === undefined) return undefined;
  if (from !== to) {
    if (to === 'config.ts' && from !== 'main') return 'only main.ts and the main files import config.ts';
    const [here = 0, there = 0] = [RUNGS[from], RUNGS[to]];
    return here > there ? undefined : `${from} (rung ${here}) imports only from lower rungs, ${to} is on rung ${there}`;
  }
  const table = rows.get(from);
  const [own, other] = [unitOf(one.from), unitOf(path)];
  if (table?.has(own) && table.has(other) && own !== other) return `rows of ${from}/ must not import each other`;
  return undefined;
}

/** Operations that only one module may do, found in the syntax tree. */
function deedFaults({ path, text }: SourceFile, { program }: Syntax, names: KnownNames): Fault[] {
  const faults: Fault[] = [];
  const moduleName = moduleOf(path);
  const secret = namesKeptFrom(path, names);
  walkSyntax(program, (node) => {
    const why = deedFault(node, moduleName) ?? comparisonFault(node, secret);
    if (why) faults.push(`${path}:${lineAt(text, node.start)}: ${why}`);
  });
  return faults;
}

function deedFault(node: SyntaxNode, moduleName: string | undefined): string | undefined {
  switch (node.type) {
    case 'CallExpression':
    case 'NewExpression':
      if (!CONNECTING_MODULES.has(moduleName ?? '') && CONNECTING.has(nameOf(node.callee)))
        return `${nameOf(node.callee)}(): only http1/ and transport/ open a connection`;
      return undefined;
    case 'MemberExpression':
      if (moduleName !== 'config.ts' && moduleName !== 'main' && ENVIRONMENTS.has(nameOf(node)))
        return `${nameOf(node)}: only config.ts reads the environment, which main.ts passes to it`;
      return undefined;
    case 'Literal':
    case 'TemplateElement':
      return moduleName !== 'store' && isSql(textOf(node)) ? 'only store/ contains SQL' : undefined;
    case 'ExportAllDeclaration':
      return 'export *: no barrels';
    case 'ExportNamedDeclaration':
      return isNode(node.source) ? 'export … from: no barrels: import from the file that declares it' : undefined;
    default:
      return undefined;
  }
}

const isSql = (text: string): boolean => SQL_QUERY.test(text) || SQL_COMMAND.test(text);

/** http1/ connects over sockets; transport/ also through a proxy, and to URLs given by clients. */
const CONNECTING_MODULES = new Set(['http1', 'transport']);
const CONNECTING = new Set([
  'fetch',
  'Bun.connect',
  'Bun.listen',
  'Bun.fetch',
  'globalThis.fetch',
  'WebSocket',
  'EventSource',
]);
const ENVIRONMENTS = new Set(['process.env', 'Bun.env', 'import.meta.env']);

/** Names that a file must not compare with: a row may use its own, a table's index all of its kind. */
function namesKeptFrom(path: string, { dialects, providers, engines }: KnownNames): ReadonlySet<string> {
  const moduleName = moduleOf(path);
  const own = unitOf(path).replace(/\.ts$/, '').split('/').at(-1);
  const indexed = path.endsWith('/index.ts') ? moduleName : undefined;
  return new Set([
    ...(indexed === 'dialects' ? [] : dialects.filter((name) => moduleName !== 'dialects' || name !== own)),
    ...(indexed === 'providers' ? [] : providers.filter((name) => moduleName !== 'providers' || name !== own)),
    ...(moduleName === 'store' ? [] : engines),
  ]);
}

const EQUALITY = new Set(['===', '!==', '==', '!=']);
/** Variables with such a name are compared; a `shape` or `family` of the same word is something else. */
const HOLDER = /(type|name|provider|vendor|dialect|engine)$/i;

function comparisonFault(node: SyntaxNode, secret: ReadonlySet<string>): string | undefined {
  for (const [held, literal] of comparisonsIn(node)) {
    if (isNode(literal) && literal.type === 'Literal' && secret.has(textOf(literal)) && HOLDER.test(nameOf(held)))
      return `compares the name "${textOf(literal)}": add a property to the table instead`;
  }
  return undefined;
}

/** Pairs that the node compares, in both orders. */
function comparisonsIn({ type, operator, left, right, discriminant, cases }: SyntaxNode): [unknown, unknown][] {
  if (type === 'BinaryExpression' && EQUALITY.has(String(operator))) {
    return [
      [left, right],
      [right, left],
    ];
  }
  if (type !== 'SwitchStatement' || !Array.isArray(cases)) return [];
  return cases.map((one: SyntaxNode) => [discriminant, one.test]);
}

/** `a.b.c` of a chain of plain names; otherwise empty. */
function nameOf(node: unknown): string {
  if (!isNode(node)) return '';
  if (node.type === 'Identifier') return String(node.name);
  if (node.type === 'ChainExpression') return nameOf(node.expression);
  if (node.type === 'MetaProperty') return 'import.meta';
  if (node.type !== 'MemberExpression' || node.computed === true) return '';
  return `${nameOf(node.object)}.${nameOf(node.property)}`;
}

function textOf({ value }: SyntaxNode): string {
  if (typeof value === 'string') return value;
  const cooked = (value as { cooked?: unknown } | null | undefined)?.cooked;
  return typeof cooked === 'string' ? cooked : '';
}

if (import.meta.main) {
  const { DIALECTS } = await import('../src/dialects/index.ts');
  const { PROVIDERS } = await import('../src/providers/index.ts');
  const names = { dialects: [...DIALECTS.keys()], providers: [...PROVIDERS.keys()], engines: ['sqlite', 'postgres'] };
  report('arrows', [...arrowFaults(readSources(['src']), names), ...cyclesOf(readSources(['web/src']))]);
}
