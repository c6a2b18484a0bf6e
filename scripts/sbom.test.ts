import { expect, test } from 'bun:test';
import { bomOf, bomOfRepository, bundledPackages, type Lockfile } from './sbom.ts';

/** `sha512-` and 64 bytes. */
const INTEGRITY = `sha512-${Buffer.alloc(64, 1).toString('base64')}`;
const locked = (version: string, more: object = {}) => ({ version, integrity: INTEGRITY, license: 'MIT', ...more });

const LOCKFILE: Lockfile = {
  packages: {
    '': {
      name: 'program',
      version: '1.0.0',
      license: 'Apache-2.0',
      dependencies: { a: '2.0.0' },
      optionalDependencies: { '@x/runtime': '3.0.0' },
    },
    'node_modules/a': locked('2.0.0', {
      dependencies: { b: '^1.0.0' },
      peerDependencies: { absent: '*', '@types/a': '*' },
    }),
    'node_modules/a/node_modules/b': locked('1.5.0', { license: 'MIT OR Apache-2.0' }),
    'node_modules/b': locked('2.5.0'),
    'node_modules/@x/runtime': locked('3.0.0', { optional: true }),
    'node_modules/@types/a': locked('9.0.0'),
    'node_modules/view': locked('4.0.0', { dev: true, dependencies: { b: '^2.0.0' } }),
    'node_modules/linter': locked('5.0.0', { dev: true }),
  },
};

test('a bill of materials has what is shipped, with checksums, licenses and dependencies', () => {
  const { components, dependencies, metadata } = bomOf(LOCKFILE, ['view']);
  expect(metadata.component).toMatchObject({ type: 'application', purl: 'pkg:npm/program@1.0.0' });
  expect(components.map(({ purl }) => purl)).toEqual([
    'pkg:npm/%40x/runtime@3.0.0',
    'pkg:npm/a@2.0.0',
    'pkg:npm/b@1.5.0',
    'pkg:npm/b@2.5.0',
    'pkg:npm/view@4.0.0',
  ]);
  expect(components[0]).toMatchObject({ name: '@x/runtime', scope: 'optional' });
  expect(components[2]).toMatchObject({
    hashes: [{ alg: 'SHA-512', content: '01'.repeat(64) }],
    licenses: [{ expression: 'MIT OR Apache-2.0' }],
  });
  expect(components[1]?.licenses).toEqual([{ license: { id: 'MIT' } }]);
  const needed = Object.fromEntries(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  expect(needed['pkg:npm/program@1.0.0']).toEqual([
    'pkg:npm/%40x/runtime@3.0.0',
    'pkg:npm/a@2.0.0',
    'pkg:npm/view@4.0.0',
  ]);
  expect(needed['pkg:npm/a@2.0.0']).toEqual(['pkg:npm/b@1.5.0']);
  expect(needed['pkg:npm/view@4.0.0']).toEqual(['pkg:npm/b@2.5.0']);
  expect(bomOf(LOCKFILE, ['view'])).toEqual(bomOf(LOCKFILE, ['view']));
  expect(bomOf(LOCKFILE, []).serialNumber).not.toBe(bomOf(LOCKFILE, ['view']).serialNumber);
});

test('a package that the lockfile lacks is an error', () => {
  const { a: _, ...packages } = Object.fromEntries(
    Object.entries(LOCKFILE.packages).map(([path, value]) => [path.replace('node_modules/', ''), value]),
  );
  expect(() => bomOf({ packages }, [])).toThrow('package-lock.json has no a, which the program needs.');
});

test('packages that sources import are found', () => {
  const text =
    "import { b } from 'b/part';\nimport 'view';\nimport c from './linter';\nexport * from '@x/runtime';\n" +
    "const a = await import('a');\n";
  expect(bundledPackages([text], LOCKFILE)).toEqual(['@x/runtime', 'a', 'b', 'view']);
});

test('every package of this repository has a checksum and a license', () => {
  const { components } = bomOfRepository();
  expect(components.length).toBeGreaterThan(10);
  expect(components.filter(({ hashes, licenses }) => !hashes || !licenses)).toEqual([]);
  expect(components.map(({ name }) => name)).toContain('@oven/bun-linux-x64-musl');
  // Of the program, loaded when needed, of the console, and not shipped.
  expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['hono', 'nodemailer', 'react']));
  for (const name of ['typescript', 'fast-check', '@types/bun'])
    expect(components.map((component) => component.name)).not.toContain(name);
});
