import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROVIDERS } from '../../providers/index.ts';
import { EXTRA_MEMBERS, FREE_TOOLS, TOOL_FEES } from './extra-members.ts';

const page = readFileSync(join(import.meta.dir, '../../../docs/reference/priced-members.md'), 'utf8');

test('the table names a source for each row, and the page for operators names each row', () => {
  for (const { member, source, formats, types = [] } of EXTRA_MEMBERS) {
    expect([member, page.includes(`\`${member}\``), source.startsWith('https://')]).toEqual([member, true, true]);
    for (const type of types) expect([...PROVIDERS.keys()]).toContain(type);
    for (const format of formats) expect([member, page.includes(`\`${format}\``)]).toEqual([member, true]);
  }
  for (const [type, { source }] of Object.entries(TOOL_FEES)) {
    expect([...PROVIDERS.keys()]).toContain(type);
    expect([type, page.includes(`\`${type}\``), source.startsWith('https://')]).toEqual([type, true, true]);
  }
  for (const { source } of Object.values(FREE_TOOLS)) expect(source).toStartWith('https://');
});
