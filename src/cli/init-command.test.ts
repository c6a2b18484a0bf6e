import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CatalogueForm, readCatalogue } from '../catalog/catalogue.ts';
import type { CliDeps } from './cli-deps.ts';
import { EXAMPLE_FILE } from './init-command.ts';
import { runCommand } from './run-command.ts';

async function init(path: string) {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const deps = { terminal: { out: write, err: write }, close: async () => {} } as unknown as CliDeps;
  return { code: await runCommand(['init', path], deps), lines };
}

test('init writes a file that changes nothing, and does not overwrite one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-init-'));
  const path = join(folder, 'modelport.yaml');
  try {
    expect(await init(path)).toEqual({
      code: 0,
      lines: [`${path} is written. Edit it, then start the gateway: modelport serve`],
    });
    expect(Bun.YAML.parse(readFileSync(path, 'utf8'))).toBeNull();
    writeFileSync(path, 'models: []\n');
    expect(await init(path)).toEqual({ code: 1, lines: [`${path} exists and is not overwritten.`] });
    expect(readFileSync(path, 'utf8')).toBe('models: []\n');
    const missing = await init(join(folder, 'missing', 'modelport.yaml'));
    expect(missing.code).toBe(1);
    expect(missing.lines[0]).toContain('could not be written');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('its examples are accepted when their comment sign is removed', () => {
  const used = EXAMPLE_FILE.replace(/^#(?! |$)|^#(?= {2})/gm, '').replace(/\$\{(\w+)\}/g, 'sk-$1');
  const form = Bun.YAML.parse(used) as CatalogueForm;
  expect(readCatalogue(form).models.map(({ name }) => name)).toEqual(['fast', 'own']);
  expect(form).toMatchObject({
    providers: [{ name: 'openai-main', credentials: ['sk-OPENAI_API_KEY', 'sk-OPENAI_SECOND_KEY'] }, { name: 'local' }],
  });
});
