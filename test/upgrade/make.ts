/**
 * Makes the databases of the previous release, by running that release: `node bin/bun.mjs test/upgrade/make.ts CHECKOUT`, where CHECKOUT
 * is a checkout of it with its packages installed. Each engine gets calls of all outcomes, money in and out, limits, an encrypted
 * credential, and a call that was under way when the process was killed. Replace the files after each release.
 */
import { Database } from 'bun:sqlite';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chatRequest, errorAnswer, streamAnswer, wholeAnswer } from '../helpers/chat-answers.ts';
import { startGateway } from '../helpers/gateway-process.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { startScriptedUpstream } from '../upstream/scripted-upstream.ts';
import { oldModels, SECRET_KEY } from './old-release.ts';

const [checkout = ''] = process.argv.slice(2);
const commit = spawnSync('git', ['-C', checkout, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).stdout.trim();

async function fill(databaseUrl: string | undefined, dataFolder: string): Promise<object> {
  const upstream = await startScriptedUpstream();
  upstream.script('/openai/', wholeAnswer('Hello.'), streamAnswer(['one ', 'two']), errorAnswer(400, 'No.'));
  upstream.script('/openai/', streamAnswer(['slow '], { repeat: true, paceMs: 60_000 }));
  const gateway = await startGateway({
    program: [process.execPath, join(checkout, 'src/main.ts')],
    dataFolder,
    environment: { MODELPORT_SECRET_KEY: SECRET_KEY, ...(databaseUrl && { DATABASE_URL: databaseUrl }) },
    ...oldModels(upstream.url, 'sk-of-the-old-release'),
  });
  const caller = await gateway.newCaller('5.00');
  await gateway.admin('POST', `/accounts/${caller.account}/adjustments`, { amount: '-0.25', note: 'test' });
  await gateway.admin('PATCH', `/accounts/${caller.account}`, { requestsPerMinute: 600, budget: { month: '100' } });
  await gateway.admin('POST', '/codes', { amount: '1.00' });
  const call = (more: object = {}) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(chatRequest('alpha', { ...more })),
    });
  await (await call()).text();
  await (await call({ stream: true })).text();
  await (await call()).text();
  await (await call({ model: 'sandbox-chat' })).text();
  const balance = await gateway.balance(caller);
  const { entries } = await gateway.verify();
  const calls = (await gateway.calls(caller)).length;
  const slow = await call({ stream: true });
  await slow.body?.getReader().read();
  await gateway.kill();
  await upstream.close();
  return { caller, available: balance.available, calls, entries };
}

/** The statements that make the tables and rows of a SQLite file. */
function dumpSqlite(path: string): string {
  const { stdout } = spawnSync('sqlite3', [path, '.dump'], { encoding: 'utf8' });
  const file = new Database(path);
  const { user_version: version } = file.query('PRAGMA user_version').get() as { user_version: number };
  file.close();
  // What readiness probes wrote is 64 KiB of noise.
  return `${stdout.replace(/^INSERT INTO probes .*\n/gm, '')}PRAGMA user_version = ${version};\n`;
}

const folder = mkdtempSync(join(tmpdir(), 'modelport-old-'));
const sqlite = await fill(undefined, folder);
writeFileSync(join(import.meta.dirname, 'sqlite.sql'), dumpSqlite(join(folder, 'modelport.db')));

const cluster = await startPostgres();
const url = await cluster.freshDatabase();
const other = mkdtempSync(join(tmpdir(), 'modelport-old-'));
const postgres = await fill(url, other);
const { stdout, stderr } = spawnSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', url], {
  encoding: 'utf8',
});
if (!stdout) throw new Error(stderr);
// Commands of psql, comments and empty lines are nothing to a server.
writeFileSync(join(import.meta.dirname, 'postgres.sql'), stdout.replace(/^(\\.*|--.*|)\n/gm, ''));
writeFileSync(join(import.meta.dirname, 'facts.json'), `${JSON.stringify({ commit, sqlite, postgres }, null, 2)}\n`);
cluster.stop('fast');
for (const used of [folder, other]) rmSync(used, { recursive: true });
process.exit(0);
