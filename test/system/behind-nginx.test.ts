/** Behind a real nginx with default settings, clients get the gateway's responses. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../helpers/free-port.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';

const nginx = Bun.which('nginx', { PATH: `${process.env.PATH}:/usr/sbin` });
if (!nginx) console.log('skipped: nginx is not installed');

const folder = mkdtempSync(join(tmpdir(), 'modelport-nginx-'));
let gateway: GatewayProcess;
let proxy: ChildProcess;
let url: string;

beforeAll(async () => {
  if (!nginx) return;
  gateway = await startGateway({ environment: { MODELPORT_LOG_LEVEL: 'error' } });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder}/${of};`);
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
    events {}
    http {
      access_log off; client_max_body_size 0; ${paths.join(' ')}
      server {
        listen 127.0.0.1:${port};
        location / { proxy_pass ${gateway.url}; }
        location /streamed/ { proxy_pass ${gateway.url}/; proxy_request_buffering off; proxy_http_version 1.1; }
        location /kept/ { proxy_pass ${gateway.url}/; proxy_set_header connection keep-alive; }
        location /admin { return 403; }
      }
    }`,
  );
  proxy = spawn(nginx, ['-p', folder, '-e', `${folder}/error.log`, '-c', join(folder, 'nginx.conf')], {
    stdio: 'ignore',
  });
  for (let tries = 0; tries < 400; tries++) {
    if (
      await fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await Bun.sleep(25);
  }
  throw new Error('nginx did not start');
});
afterAll(async () => {
  proxy?.kill();
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const chat = (path: string, body: string | Uint8Array<ArrayBuffer>) =>
  fetch(`${url}${path}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
    body,
  });

test.skipIf(!nginx)('an upload of 70 MB gets the error that it is too large, however nginx passes it on', async () => {
  for (const path of Array(5).fill(['', '/streamed', '/kept']).flat()) {
    const response = await chat(path, Buffer.alloc(70_000_000, 'x'));
    expect([path, response.status]).toEqual([path, 413]);
    expect(await response.json()).toMatchObject({ error: { code: 'request_too_large' } });
  }
});

test.skipIf(!nginx)('calls and streams work over HTTP/1.0 and 1.1', async () => {
  for (const path of ['', '/streamed', '/kept']) {
    for (const stream of [false, true]) {
      const messages = [{ role: 'user', content: 'Hello!' }];
      const response = await chat(path, JSON.stringify({ model: 'sandbox-chat', messages, stream }));
      expect(response.status).toBe(200);
      expect(await response.text()).toContain(stream ? '[DONE]' : 'chat.completion');
    }
  }
});

test.skipIf(!nginx)('no spelling of the admin API passes an nginx rule for its prefix', async () => {
  const headers = { authorization: `Bearer ${gateway.adminKey}` };
  for (const path of [
    '/admin/v1/accounts',
    '/%61dmin/v1/accounts',
    '/streamed/%61dmin/v1/accounts',
    '//admin/v1/accounts',
  ])
    expect([path, (await fetch(`${url}${path}`, { headers })).status]).toEqual([
      path,
      path.startsWith('/str') ? 200 : 403,
    ]);
});
