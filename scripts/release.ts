/**
 * `node bin/bun.mjs scripts/release.ts 1.2.3`: everything that a release publishes, in `dist/release/` (`--out FOLDER`): the npm package, a binary for
 * every platform (`--platform NAME`: only those), the Helm chart, the bill of materials, the notes, and SHA256SUMS. It publishes nothing.
 * `--verify FOLDER` checks such a folder, also one that was downloaded. `--dirty` allows uncommitted changes, for a rehearsal.
 */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { notesOf } from './release-notes.ts';
import { type Bom, bomOfRepository } from './sbom.ts';
import { type Fault, ROOT } from './source-files.ts';

const SUMS = 'SHA256SUMS';
const NOTES = 'RELEASE_NOTES.md';

interface Sources {
  /** The version in package.json. */
  version: string;
  changelog: string;
  /** Chart.yaml. */
  chart: string;
  /** `git status --porcelain`. */
  changes: string;
  /** The commit of the tag, if it exists, and the one that is checked out. */
  tagged: string;
  head: string;
}

/** Why this version cannot be released from here. */
export function releaseFaults(version: string, sources: Sources): Fault[] {
  const faults: Fault[] = [];
  if (!/^\d+\.\d+\.\d+$/.test(version)) faults.push(`"${version}" is not a version such as 1.2.3.`);
  if (sources.version !== version) faults.push(`package.json has version ${sources.version}.`);
  if (notesOf(sources.changelog, version) === undefined) faults.push(`CHANGELOG.md has no "## ${version} - DATE".`);
  const chart = Bun.YAML.parse(sources.chart) as { version: string; appVersion: string };
  for (const name of ['version', 'appVersion'] as const)
    if (chart[name] !== version) faults.push(`Chart.yaml has ${name} ${chart[name]}.`);
  if (sources.changes !== '') faults.push('There are uncommitted changes.');
  if (sources.tagged !== '' && sources.tagged !== sources.head) faults.push(`The tag v${version} is another commit.`);
  return faults;
}

function run(command: readonly string[], quiet = false): string {
  const child = Bun.spawnSync([...command], { cwd: ROOT, stdin: 'ignore', stderr: quiet ? 'ignore' : 'inherit' });
  if (child.exitCode !== 0 && !quiet) throw new Error(`${command.join(' ')} ended with ${child.exitCode}`);
  return child.exitCode === 0 ? child.stdout.toString().trim() : '';
}

function readRepository(version: string, dirty: boolean): Sources {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  return {
    version: (JSON.parse(read('package.json')) as { version: string }).version,
    changelog: read('CHANGELOG.md'),
    chart: read('deploy/helm/modelport/Chart.yaml'),
    changes: dirty ? '' : run(['git', 'status', '--porcelain']),
    tagged: run(['git', 'rev-parse', '--verify', '--quiet', `v${version}^{commit}`], true),
    head: run(['git', 'rev-parse', 'HEAD']),
  };
}

/** Builds into an empty folder. */
function build(version: string, folder: string, platforms: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty.`);
  const chosen = platforms.length > 0 ? platforms : ['--all'];
  console.log(run(['npm', 'run', '--silent', 'build:binary', '--', ...chosen, '--out', folder]));
  run(['npm', 'pack', '--silent', '--pack-destination', folder]);
  run(['tar', '-czf', join(folder, `modelport-chart-${version}.tgz`), '-C', join(ROOT, 'deploy', 'helm'), 'modelport']);
  writeFileSync(join(folder, `modelport-${version}.cdx.json`), `${JSON.stringify(bomOfRepository(), null, 2)}\n`);
  writeFileSync(join(folder, NOTES), `${notesOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version)}\n`);
  writeFileSync(join(folder, SUMS), sumsOf(folder));
}

/** As `sha256sum *` writes it. */
export function sumsOf(folder: string): string {
  const names = readdirSync(folder).filter((name) => name !== SUMS);
  return names
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    )
    .join('');
}

/** What is wrong with a folder that `build` has made: files, checksums, versions, and the binary of this platform. */
export function verify(folder: string): Fault[] {
  if (!existsSync(join(folder, SUMS))) return [`${folder} has no ${SUMS}.`];
  const faults = sumFaults(readFileSync(join(folder, SUMS), 'utf8'), sumsOf(folder));
  const names = readdirSync(folder);
  const bomName = names.find((name) => name.endsWith('.cdx.json'));
  if (!bomName) return [...faults, 'There is no bill of materials.'];
  const bom = JSON.parse(readFileSync(join(folder, bomName), 'utf8')) as Bom;
  const { version } = bom.metadata.component;
  for (const name of [
    `modelport-${version}.cdx.json`,
    `modelport-${version}.tgz`,
    `modelport-chart-${version}.tgz`,
    NOTES,
  ])
    if (!names.includes(name)) faults.push(`There is no ${name}.`);
  if (faults.length > 0) return faults;
  return [...packageFaults(folder, bom), ...chartFaults(folder, version), ...binaryFaults(folder, version)];
}

function sumFaults(written: string, found: string): Fault[] {
  const read = (text: string) =>
    new Map(
      text
        .trim()
        .split('\n')
        .map((line) => [line.slice(66), line.slice(0, 64)]),
    );
  const [expected, actual] = [read(written), read(found)];
  const faults: Fault[] = [];
  for (const [name, sum] of expected)
    if (!actual.has(name)) faults.push(`${name} is missing.`);
    else if (actual.get(name) !== sum) faults.push(`${name} does not have the checksum of ${SUMS}.`);
  for (const name of actual.keys()) if (!expected.has(name)) faults.push(`${name} is not in ${SUMS}.`);
  return faults;
}

const unpacked = (folder: string, archive: string, path: string) => run(['tar', '-xzOf', join(folder, archive), path]);

interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  dependencies?: { [name: string]: string };
  optionalDependencies?: { [name: string]: string };
}

/** The npm package is of this version, can be published, and needs only what the bill of materials lists. */
function packageFaults(folder: string, { metadata, components }: Bom): Fault[] {
  const { version } = metadata.component;
  const manifest = JSON.parse(unpacked(folder, `modelport-${version}.tgz`, 'package/package.json')) as Manifest;
  const faults: Fault[] = [];
  if (manifest.version !== version) faults.push(`The npm package has version ${manifest.version}, not ${version}.`);
  if (manifest.private) faults.push('The npm package is private: npm refuses to publish it.');
  const listed = new Set(components.map((component) => `${component.name}@${component.version}`));
  for (const [name, wanted] of Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies }))
    if (!listed.has(`${name}@${wanted}`)) faults.push(`The bill of materials has no ${name}@${wanted}.`);
  return faults;
}

function chartFaults(folder: string, version: string): Fault[] {
  const text = unpacked(folder, `modelport-chart-${version}.tgz`, 'modelport/Chart.yaml');
  const { appVersion } = Bun.YAML.parse(text) as { appVersion: string };
  return appVersion === version ? [] : [`The chart is of ${appVersion}, not of ${version}.`];
}

function binaryFaults(folder: string, version: string): Fault[] {
  const windows = process.platform === 'win32';
  const musl = process.execPath.includes('-musl') ? '-musl' : '';
  const name = `modelport-${windows ? 'windows' : process.platform}-${process.arch}${musl}${windows ? '.exe' : ''}`;
  if (!existsSync(join(folder, name))) return [];
  // A download has lost its permissions.
  chmodSync(join(folder, name), 0o755);
  const printed = run([join(folder, name), '--version']);
  return printed === version ? [] : [`${name} prints version ${printed}, not ${version}.`];
}

function report(faults: readonly Fault[]): void {
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exit(1);
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: {
      out: { type: 'string', default: 'dist/release' },
      platform: { type: 'string', multiple: true, default: [] },
      verify: { type: 'string' },
      dirty: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const [version = ''] = positionals;
  const folder = resolve(values.verify ?? values.out);
  if (values.verify === undefined) {
    report(releaseFaults(version, readRepository(version, values.dirty)));
    build(version, folder, values.platform);
  }
  report(verify(folder));
  console.log(`${readdirSync(folder).length - 1} files in ${folder} are as ${SUMS} says.`);
}
