import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { createEdge } from './edge.ts';
import { createPages } from './pages.ts';

const PAGE = '<!doctype html><title>Console</title>';
const SCRIPT = 'console.log("built")';
const folder = mkdtempSync(join(tmpdir(), 'modelport-pages-'));
writeFileSync(join(folder, 'index.html'), PAGE);
writeFileSync(join(folder, 'index-1a2b3c4d.js'), SCRIPT);

let edge: Loopback;
beforeAll(async () => {
  edge = await startLoopback(undefined, { pages: createPages({ folder, source: join(folder, 'none.html') }) });
});
afterAll(async () => {
  await edge.stop();
  rmSync(folder, { recursive: true });
});

const get = (path: string, headers: { [name: string]: string } = {}) =>
  fetch(new URL(path, edge.address), { headers, redirect: 'manual' });

test('every URL of the console answers its page, which is not cached and runs no foreign scripts', async () => {
  for (const path of ['/console', '/console/', '/console/calls', '/console/accounts/acct_1']) {
    const page = await get(path);
    expect([path, page.status, await page.text()]).toEqual([path, 200, PAGE]);
    expect(page.headers.get('content-type')).toBe('text/html;charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(page.headers.get('access-control-allow-origin')).toBeNull();
  }
});

test('built files are cached forever, compressed if the client accepts it, and missing ones are 404', async () => {
  const file = await get('/console/index-1a2b3c4d.js', { 'accept-encoding': 'gzip' });
  expect([file.headers.get('cache-control'), file.headers.get('content-encoding')]).toEqual([
    'public, max-age=31536000, immutable',
    'gzip',
  ]);
  expect(await file.text()).toBe(SCRIPT);
  const plain = await get('/console/index-1a2b3c4d.js', { 'accept-encoding': 'identity' });
  expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, SCRIPT]);
  for (const path of ['/console/index-old.js', '/console/api/none'])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  // Without a session nothing about the playground is shown.
  expect((await get('/console/v1/none')).status).toBe(401);
});

test('/ sends browsers to the console and describes the service to programs', async () => {
  const browser = await get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
  expect([browser.status, browser.headers.get('location')]).toEqual([303, '/console/']);
  expect(await (await get('/', { accept: '*/*' })).json()).toEqual({ name: 'modelport', version: '1.2.3' });
});

test('a public address for clients serves no console', async () => {
  const { answer } = createEdge(edge.deps, { surface: 'public' });
  const status = async (target: string, accept = '') => {
    const headers = new Headers({ accept });
    const request = { method: 'GET', target, headers, body: { length: 0 } } as unknown as Parameters<typeof answer>[0];
    return (await answer(request)).status;
  };
  expect(await status('/console/')).toBe(404);
  expect(await status('/console/api/session')).toBe(404);
  expect(await status('/', 'text/html')).toBe(200);
});
