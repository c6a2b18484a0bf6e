import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCatalogueFile } from '../config/catalogue-file.ts';
import type { CliDeps } from './cli-deps.ts';
import { EXAMPLE_FILE } from './init-command.ts';
import { runCommand } from './run-command.ts';

const KEYS = { OPENAI_API_KEY: 'sk-first', OPENAI_SECOND_KEY: 'sk-second' };

async function init(path: string) {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const deps = { terminal: { out: write, err: write }, close: async () => {} } as unknown as CliDeps;
  return { code: await runCommand(['init', path], deps), lines };
}

test('init writes a file that is accepted as it stands, and does not overwrite one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-init-'));
  const path = join(folder, 'modelport.yaml');
  try {
    expect(await init(path)).toEqual({
      code: 0,
      lines: [`${path} is written. Edit it, then start the gateway: modelport serve`],
    });
    expect(readCatalogueFile(path, {})).toEqual({});
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
  const folder = mkdtempSync(join(tmpdir(), 'modelport-init-'));
  const path = join(folder, 'modelport.yaml');
  try {
    writeFileSync(path, EXAMPLE_FILE.replace(/^#(?! |$)|^#(?= {2})/gm, ''));
    expect(readCatalogueFile(path, KEYS)).toMatchObject({
      providers: [{ name: 'openai-main', credentials: ['sk-first', 'sk-second'] }, { name: 'local' }],
      models: [{ name: 'fast' }, { name: 'own' }],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
