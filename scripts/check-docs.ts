/** Checks documents: what they name exists, ARCHITECTURE.md shows every module, and every file begins with a sentence about itself. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { type Fault, isTest, listFiles, ROOT, readFiles, report, type SourceFile } from './source-files.ts';

const MAP = 'ARCHITECTURE.md';
const CHANGELOG = 'CHANGELOG.md';
const DOCUMENTS = ['README.md', MAP, 'CONTRIBUTING.md', 'SECURITY.md', CHANGELOG];
/** Documents about one folder: the files they name are below it. */
const FOLDER_DOCUMENTS = ['src/http1/README.md', 'web/README.md'];
const CODE_FOLDERS = ['src', 'scripts', 'bench', 'test'];
/** Names with these extensions are files of the repository, even without a folder. */
const OWN_ENDINGS = /\.(ts|mjs|md)$/;

export interface Repository {
  documents: readonly SourceFile[];
  /** The path of every file. */
  paths: readonly string[];
  sources: readonly SourceFile[];
}

export function docFaults({ documents, paths, sources }: Repository): Fault[] {
  const places = placesOf(paths);
  return [
    ...documents.flatMap((document) => [...pathFaults(document, places), ...linkFaults(document, documents, places)]),
    ...documents.filter(({ path }) => path === CHANGELOG).flatMap(changelogFaults),
    ...moduleFaults(documents, paths),
    ...drawingFaults(documents, paths),
    ...sources
      .filter(({ path }) => !isTest(path))
      .flatMap((file) => [...headFaults(file), ...citationFaults(file, documents)]),
  ];
}

/** Every file and folder. */
function placesOf(paths: readonly string[]): ReadonlySet<string> {
  const places = new Set<string>();
  for (const path of paths) {
    for (let place = path; place !== '.' && !places.has(place); place = dirname(place)) places.add(place);
  }
  return places;
}

/** Paths in backticks that do not exist. `src/` may be omitted before a module's name. */
function pathFaults({ path, text }: SourceFile, places: ReadonlySet<string>): Fault[] {
  const home = FOLDER_DOCUMENTS.includes(path) ? `${dirname(path)}/` : '';
  const roots = ['', 'src/', ...(home === '' ? [] : [home, `${home}src/`])];
  const exists = (place: string) => roots.some((root) => places.has(root + place));
  const own = [...places].filter((place) => place.startsWith(home));
  const names = new Set(own.map((place) => place.slice(place.lastIndexOf('/') + 1)));
  const faults: Fault[] = [];
  for (const { line, code } of codeSpans(text)) {
    const name = code.replace(/\/$/, '').replace(/:\d+$/, '');
    const [first = '', ...rest] = name.split('/');
    const isPath = rest.length > 0 ? exists(first) : OWN_ENDINGS.test(name);
    if (!isPath || !/^[\w./@-]+$/.test(name)) continue;
    const stands = rest.length > 0 ? exists(name) : names.has(name);
    if (!stands) faults.push(`${path}:${line}: names ${code}, which does not exist`);
  }
  return faults;
}

function* codeSpans(text: string): Generator<{ line: number; code: string }> {
  let fenced = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('```')) fenced = !fenced;
    else if (!fenced) for (const [, code = ''] of line.matchAll(/`([^`]+)`/g)) yield { line: index + 1, code };
  }
}

const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
const AREAS = ['API', 'Routing', 'Console and people', 'Money and reports', 'Operation', 'Performance', 'Project'];
const MAX_LINE = 150;

/** The unreleased part is sorted by kind and area, and wrapped, as CONTRIBUTING.md says. */
function changelogFaults({ path, text }: SourceFile): Fault[] {
  const faults: Fault[] = [];
  let [version, kind, area] = ['', -1, -1];
  for (const [index, line] of text.split('\n').entries()) {
    const [, marks = '', title = ''] = /^(#{2,4}) (.*)$/.exec(line) ?? [];
    if (marks === '##') version = title;
    if (version !== 'Unreleased') continue;
    const order = marks === '###' ? KINDS : AREAS;
    const last = marks === '###' ? kind : area;
    const place = order.indexOf(title);
    if (marks.length > 2 && place <= last)
      faults.push(`${path}:${index + 1}: ${title} is not in the order ${order.join(', ')}`);
    if (marks === '###') [kind, area] = [place, -1];
    if (marks === '####') area = place;
    if (line.length > MAX_LINE) faults.push(`${path}:${index + 1}: is longer than ${MAX_LINE} characters`);
  }
  return faults;
}

const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g;

function linkFaults(
  { path, text }: SourceFile,
  documents: readonly SourceFile[],
  places: ReadonlySet<string>,
): Fault[] {
  const faults: Fault[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    for (const [, link = ''] of line.matchAll(LINK)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : normalize(join(dirname(path), file)).replace(/\/$/, '');
      const linked = documents.find((document) => document.path === target);
      if (!places.has(target)) faults.push(`${path}:${index + 1}: links to ${link}, which does not exist`);
      else if (anchor !== undefined && linked && !headings(linked.text).has(anchor))
        faults.push(`${path}:${index + 1}: links to ${link}, but ${target} has no such heading`);
    }
  }
  return faults;
}

/** The anchors of a document's headings, as GitHub makes them. */
function headings(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, title = ''] of text.matchAll(/^#+ (.*)$/gm)) {
    const words = title.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '');
    anchors.add(words.trim().replaceAll(' ', '-'));
  }
  return anchors;
}

/** Modules that the first drawing of ARCHITECTURE.md lacks, and files in its drawings, without `src/`, that do not exist. */
function drawingFaults(documents: readonly SourceFile[], paths: readonly string[]): Fault[] {
  const text = documents.find(({ path }) => path === MAP)?.text ?? '';
  const drawings = [...text.matchAll(/^```\n[\s\S]*?^```$/gm)].map(([drawing]) => drawing);
  const [modules] = drawings;
  if (modules === undefined) return [];
  const drawn = new Set(modules.match(/[\w-]+/g));
  const folders = new Set(paths.flatMap((path) => /^src\/([^/]+)\//.exec(path)?.[1] ?? []));
  const files = drawings.flatMap((drawing) => drawing.match(/(?<![\w./-])(?:[\w-]+\/)+[\w-]+\.ts\b/g) ?? []);
  return [
    ...[...folders].filter((name) => !drawn.has(name)).map((name) => `${MAP}: the first drawing lacks ${name}`),
    ...files
      .filter((file) => !paths.includes(`src/${file}`))
      .map((file) => `${MAP}: a drawing names ${file}, which does not exist`),
  ];
}

/** Modules of `src/` that ARCHITECTURE.md does not show. */
function moduleFaults(documents: readonly SourceFile[], paths: readonly string[]): Fault[] {
  const map = documents.find(({ path }) => path === MAP);
  if (!map) return [`${MAP} does not exist`];
  const modules = new Set<string>();
  for (const path of paths) {
    const [top, name = '', ...rest] = path.split('/');
    if (top === 'src' && !isTest(path)) modules.add(rest.length > 0 ? `${name}/` : name);
  }
  return [...modules]
    .filter((name) => !map.text.includes(`\`src/${name}\``))
    .map((name) => `${MAP}: does not show \`src/${name}\``);
}

/** Documents that code names, with the headings named. */
function citationFaults({ path, text }: SourceFile, documents: readonly SourceFile[]): Fault[] {
  const faults: Fault[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    for (const [cited, file, anchor] of line.matchAll(/(?<![\w./-])(docs\/[\w./-]+\.md)(?:#([\w-]+))?/g)) {
      const document = documents.find((one) => one.path === file);
      if (!document) faults.push(`${path}:${index + 1}: names ${cited}, which does not exist`);
      else if (anchor !== undefined && !headings(document.text).has(anchor))
        faults.push(`${path}:${index + 1}: names ${cited}, but ${file} has no such heading`);
    }
  }
  return faults;
}

function headFaults({ path, text }: SourceFile): Fault[] {
  const head = text.replace(/^#!.*\n/, '');
  return /^\/\*\*\s[\s\S]*?\*\//.test(head) ? [] : [`${path}:1: begins without a sentence about the file`];
}

if (import.meta.main) {
  const decisions = existsSync(join(ROOT, 'docs')) ? listFiles(['docs']) : [];
  const present = [...DOCUMENTS, ...FOLDER_DOCUMENTS].filter((path) => existsSync(join(ROOT, path)));
  const folders = [...CODE_FOLDERS, 'bin', '.ci'].filter((path) => existsSync(join(ROOT, path)));
  const rootFiles = ['LICENSE', 'package.json', 'package-lock.json', 'tsconfig.json', 'biome.json', 'knip.json'];
  const code = listFiles(folders);
  const web = existsSync(join(ROOT, 'web')) ? listFiles(['web']) : [];
  const missing = DOCUMENTS.filter((path) => !present.includes(path)).map((path) => `${path} does not exist`);
  const faults = docFaults({
    documents: readFiles([...present, ...decisions.filter((path) => path.endsWith('.md'))]),
    paths: [...present, ...decisions, ...code, ...web, ...rootFiles.filter((path) => existsSync(join(ROOT, path)))],
    sources: readFiles([...code, ...web].filter((path) => /\.tsx?$/.test(path))),
  });
  report('docs', [...missing, ...faults]);
}
