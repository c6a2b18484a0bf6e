/** The OpenAPI document with its users' tools: a linter's recommended rules, and a generated typed client. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from '../clients/install.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { readDocument } from '../openapi/run.ts';

const TOOLS = join(import.meta.dirname, '../openapi/tools');
const TIMEOUT_MS = 300_000;

let gateway: GatewayProcess;
/** Next to the packages, so that compiled code finds them. */
let folder: string;
beforeAll(async () => {
  await installPackages(TOOLS);
  gateway = await startGateway();
  const place = join(TOOLS, 'node_modules');
  mkdirSync(place, { recursive: true });
  folder = mkdtempSync(join(place, '.description-'));
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(await readDocument(gateway)));
}, TIMEOUT_MS);
afterAll(async () => {
  if (folder) rmSync(folder, { recursive: true, force: true });
  await gateway?.stop();
});

interface Ran {
  code: number;
  out: string;
}

async function run(tool: string, ...args: string[]): Promise<Ran> {
  const env = { ...process.env, CI: '1', REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const child = Bun.spawn([process.execPath, join(TOOLS, 'node_modules', tool), ...args], {
    cwd: folder,
    env,
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const out = await new Response(child.stdout).text();
  return { code: await child.exited, out };
}

test(
  "Redocly's recommended rules find no errors and no warnings",
  async () => {
    const { out } = await run('@redocly/cli/bin/cli.js', 'lint', 'openapi.json', '--format=json');
    const { totals, problems } = JSON.parse(out) as { totals: object; problems: { ruleId: string; message: string }[] };
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
    expect(totals).toMatchObject({ errors: 0, warnings: 0 });
  },
  TIMEOUT_MS,
);

const USE = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';

const [baseUrl = '', key = '', adminKey = ''] = process.argv.slice(2);
const client = createClient<paths, 'application/json'>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });
const admin = createClient<paths, 'application/json'>({ baseUrl, headers: { authorization: \`Bearer \${adminKey}\` } });

const messages: components['schemas']['ChatMessage'][] = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }];
const chat = await client.POST('/v1/chat/completions', { body: { model: 'sandbox-chat', messages, temperature: 0 } });
const text: string | null | undefined = chat.data?.choices[0]?.message.content;
const tokens: number | undefined = chat.data?.usage.total_tokens;

const message = await client.POST('/v1/messages', {
  body: { model: 'sandbox-chat', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] },
  params: { header: { 'anthropic-version': '2023-06-01' } },
});
const [block] = message.data?.content ?? [];
const spoken: unknown = block && block.type === 'text' ? block.text : undefined;

const refused = await client.POST('/v1/chat/completions', { body: { model: 'no-such-model', messages } });
const code: string | undefined = refused.error?.error.code;

const accounts = await admin.GET('/admin/v1/accounts', { params: { query: { limit: 1 } } });
const name: string | undefined = accounts.data?.data[0]?.name;

const aliases = { 'gpt-4o': 'sandbox-chat' };
const issued = await admin.POST('/admin/v1/keys', { body: { account: 'default', name: 'generated', aliases } });
const alias: string | undefined = issued.data?.aliases?.['gpt-4o'];

console.log(JSON.stringify({ text, tokens, spoken, code, name, alias }));
`;

/** Each line is wrong by the document. */
const MISUSE = `
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';
const client = createClient<paths, 'application/json'>();
await client.POST('/v1/chat/completions', { body: { messages: [] } });
await client.POST('/v1/chat/completions', { body: { model: 'm', messages: [], temperature: 'hot' } });
await client.POST('/v1/chat/completion', { body: { model: 'm', messages: [] } });
await client.POST('/admin/v1/accounts/{id}/top-ups', { body: { amount: '1.00' } });
`;

test(
  'openapi-typescript generates a client that compiles in strict mode and works',
  async () => {
    const generated = await run('openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'api.d.ts');
    expect(generated.code).toBe(0);
    writeFileSync(join(folder, 'use.ts'), USE);
    writeFileSync(join(folder, 'misuse.ts'), MISUSE);
    const strict = ['--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext', '--moduleDetection', 'force'];
    const files = ['globals.d.ts', 'use.ts', 'misuse.ts'];
    writeFileSync(join(folder, 'globals.d.ts'), 'declare const process: { argv: string[] };\n');
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    // At once: the generated types take seconds of processor time.
    const { out } = await run(
      'typescript/bin/tsc',
      ...strict,
      '--skipLibCheck',
      '--allowImportingTsExtensions',
      ...files,
    );
    // The lines of an error after its first are indented.
    const errors = out.split('\n').filter((line) => /^\S/.test(line));
    expect(errors.filter((line) => !line.startsWith('misuse.ts('))).toEqual([]);
    const wrong = out.match(/^misuse\.ts\((\d+),/gm) ?? [];
    expect([...new Set(wrong)]).toEqual(['misuse.ts(5,', 'misuse.ts(6,', 'misuse.ts(7,', 'misuse.ts(8,']);

    const child = Bun.spawn([process.execPath, 'use.ts', gateway.url, gateway.apiKey, gateway.adminKey], {
      cwd: folder,
      stdout: 'pipe',
    });
    const answer = JSON.parse(await new Response(child.stdout).text()) as { [name: string]: unknown };
    expect(answer).toEqual({
      text: expect.any(String),
      tokens: expect.any(Number),
      spoken: expect.any(String),
      code: 'model_not_found',
      name: expect.any(String),
      alias: 'sandbox-chat',
    });
  },
  TIMEOUT_MS,
);
