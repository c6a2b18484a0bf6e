/**
 * `node bin/bun.mjs scripts/sbom.ts`: prints what the program is made of, as CycloneDX 1.6: the packages that package-lock.json pins, as far as they
 * are shipped. The same lockfile gives the same text.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { ROOT } from './source-files.ts';

interface LockedPackage {
  name?: string;
  version?: string;
  integrity?: string;
  license?: string;
  optional?: boolean;
  dependencies?: { [name: string]: string };
  optionalDependencies?: { [name: string]: string };
  peerDependencies?: { [name: string]: string };
}
export interface Lockfile {
  packages: { [path: string]: LockedPackage };
}

export interface Bom {
  bomFormat: string;
  specVersion: string;
  serialNumber: string;
  version: number;
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}
interface Component {
  type: 'application' | 'library';
  'bom-ref': string;
  name: string;
  version: string;
  purl: string;
  scope?: 'required' | 'optional';
  hashes?: { alg: string; content: string }[];
  licenses?: ({ license: { id: string } } | { expression: string })[];
}

/** `bundled`: development packages that are built into what is shipped. Throws an Error if the lockfile lacks a package. */
export function bomOf({ packages }: Lockfile, bundled: readonly string[]): Bom {
  const graph = new Map<string, readonly string[]>();
  const visit = (path: string): void => {
    if (graph.has(path)) return;
    const needed = neededBy(path, packages, path === '' ? bundled : []);
    graph.set(path, needed);
    for (const next of needed) visit(next);
  };
  visit('');
  const componentAt = (path: string) => componentOf(nameOf(path, packages), packages[path] ?? {});
  const refAt = (path: string) => componentAt(path)['bom-ref'];
  const [, ...paths] = [...graph.keys()].sort();
  const content = {
    metadata: { component: { ...componentAt(''), type: 'application' as const } },
    // The same version may be installed at two paths.
    components: unique(paths.map(componentAt), (component) => component['bom-ref']),
    dependencies: unique(
      [...graph].map(([path, needed]) => ({ ref: refAt(path), dependsOn: [...new Set(needed.map(refAt))] })),
      ({ ref }) => ref,
    ),
  };
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serialOf(content), version: 1, ...content };
}

/** The paths of the packages that the one at `path` needs, sorted. */
function neededBy(path: string, packages: Lockfile['packages'], more: readonly string[]): string[] {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[path] ?? {};
  const optional = { ...peerDependencies, ...optionalDependencies };
  const found = [...new Set([...Object.keys({ ...dependencies, ...optional }), ...more])].flatMap((name) => {
    const at = locate(path, name, packages);
    // Types are not shipped. What npm may leave out is there where the lockfile has it.
    if (name.startsWith('@types/') || (!at && name in optional)) return [];
    if (!at) throw new Error(`package-lock.json has no ${name}, which ${path || 'the program'} needs.`);
    return [at];
  });
  return found.sort();
}

/** Where Node finds a package from the one at `from`: below it, or beside it, or further up. */
function locate(from: string, name: string, packages: Lockfile['packages']): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[path]) return path;
    if (folder === '') return undefined;
  }
}

const unique = <T>(all: readonly T[], key: (one: T) => string): T[] =>
  [...new Map(all.toReversed().map((one) => [key(one), one])).values()].reverse();

function nameOf(path: string, packages: Lockfile['packages']): string {
  const own = 'node_modules/';
  return path === '' ? (packages['']?.name ?? '') : path.slice(path.lastIndexOf(own) + own.length);
}

/** https://github.com/package-url/purl-spec: the scope's @ is percent-encoded. */
const purlOf = (name: string, version: string) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

function componentOf(name: string, { version = '', integrity, license, optional }: LockedPackage): Component {
  const purl = purlOf(name, version);
  const [algorithm = '', digest = ''] = integrity?.split('-') ?? [];
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    scope: optional ? 'optional' : 'required',
    ...(digest && {
      hashes: [{ alg: algorithm.replace(/^sha/, 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
    ...(license && {
      licenses: [/ (OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } }],
    }),
  };
}

/** A UUID from the content, so that the same content has the same. */
function serialOf(content: object): string {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${parts.join('-')}`;
}

/** Packages that sources import: the bundles of the program and the console contain them, and npm does not install them with it. */
export function bundledPackages(sources: Iterable<string>, { packages }: Lockfile): string[] {
  const names = new Set<string>();
  for (const text of sources)
    for (const [, name = ''] of text.matchAll(/(?:from |import |import\()'((?:@[\w.-]+\/)?[\w.-]+)[/']/g))
      if (packages[`node_modules/${name}`]) names.add(name);
  return [...names].sort();
}

export function bomOfRepository(): Bom {
  const lockfile = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile;
  const shipped = [...new Glob('{src,web}/**/*.{ts,tsx}').scanSync(ROOT)].filter(
    (path) => !/node_modules|\.test\.|^web[/\\]dist[/\\]/.test(path),
  );
  return bomOf(
    lockfile,
    bundledPackages(
      shipped.map((path) => readFileSync(join(ROOT, path), 'utf8')),
      lockfile,
    ),
  );
}

if (import.meta.main) console.log(JSON.stringify(bomOfRepository(), null, 2));
