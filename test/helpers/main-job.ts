/** What every way to install must do: start, call, bill, verify and serve the console. */
import { expect } from 'bun:test';
import { type ScriptedUpstream, startScriptedUpstream } from '../upstream/scripted-upstream.ts';
import { CHROMIUM, openBrowser, openPage, signInByLink } from './browser.ts';
import { chatRequest, wholeAnswer } from './chat-answers.ts';
import type { GatewayProcess, GatewaySetup } from './gateway-process.ts';
import { newPasskeyDevice } from './passkey-device.ts';
import { costOf, nanoOf, PRICE } from './scene.ts';

/** Four tokens of 23 bytes: an estimate by length is 6. */
const FOUR_TOKENS = 'hello hello hello hello';

/** A provider that reports no usage. */
export async function startUnmetered(): Promise<ScriptedUpstream> {
  const upstream = await startScriptedUpstream();
  const { usage: _, ...unmetered } = wholeAnswer(FOUR_TOKENS).json as { usage: object };
  upstream.script('/plain/', { json: unmetered, repeat: true });
  return upstream;
}

/** The gateway's model on that provider. */
export const unmeteredModel = ({ url }: ScriptedUpstream): Pick<GatewaySetup, 'providers' | 'models'> => ({
  providers: [{ name: 'plain', type: 'openai-compatible', baseUrl: `${url}/plain/v1`, credential: 'sk-fake' }],
  models: [
    { name: 'plain', kind: 'chat', price: PRICE, maxOutputTokens: 100, targets: [{ provider: 'plain', model: 'm' }] },
  ],
});

/** An OIDC provider that cannot be reached. */
export const OIDC_ENVIRONMENT = {
  MODELPORT_PUBLIC_URL: 'https://models.example.test',
  MODELPORT_OIDC_ISSUER: 'http://127.0.0.1:9',
  MODELPORT_OIDC_CLIENT_ID: 'modelport',
};

/** The library, which is loaded now, reports that the provider cannot be reached. */
async function beginOidc({ url }: Pick<GatewayProcess, 'url'>): Promise<void> {
  const answer = await fetch(`${url}/console/api/sign-in/oidc`, { redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/#error=provider_unavailable']);
}

/** Calls, bills and verifies, and uses every thread and library. Needs `OIDC_ENVIRONMENT`. */
export async function doMainJob(gateway: GatewayProcess): Promise<void> {
  const caller = await gateway.newCaller('10.00');
  const call = (body: object) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(body),
    });
  // More than a megabyte is parsed in a thread.
  const large = await call(chatRequest('plain', { messages: [{ role: 'user', content: 'a'.repeat(1_100_000) }] }));
  expect(large.status).toBe(200);
  // The tokens of a reply without usage are counted in a thread.
  await call(chatRequest('plain')).then((response) => response.json());
  const [last] = await gateway.calls(caller);
  expect(last?.usage).toMatchObject({ output: 4, source: 'counted' });
  expect(nanoOf(last?.cost ?? '')).toBe(costOf({ input: last?.usage?.input ?? 0, output: 4 }));
  // After 200 writes of a process a thread copies the log of the database.
  for (let sent = 0; sent < 500; sent += 20)
    await Promise.all(Array.from({ length: 20 }, () => call(chatRequest('plain')).then((answer) => answer.text())));
  await signInWithPasskey(gateway);
  await beginOidc(gateway);
  const report = await gateway.verify();
  expect(report).toMatchObject({ ok: true });
  expect(report.entries).toBeGreaterThan(500);
  expect(gateway.log()).not.toContain('a thread failed');
}

const TYPES: { [extension: string]: string } = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };

/** The page of the console and every file that it leads to, from file to file. */
async function fetchConsole(url: string): Promise<string[]> {
  const page = await fetch(`${url}/console`, { headers: { accept: 'text/html' } });
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html;charset=utf-8']);
  const files = new Set<string>();
  const follow = (text: string) => {
    for (const [, name = ''] of text.matchAll(/["'](?:\.|\/console)\/([\w.-]+\.(?:js|css|svg))["']/g)) files.add(name);
  };
  follow(await page.text());
  for (const name of files) {
    const file = await fetch(`${url}/console/${name}`);
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? '';
    expect([name, file.status, file.headers.get('content-type')]).toEqual([name, 200, expect.stringContaining(type)]);
    const text = await file.text();
    if (name.endsWith('.js')) follow(text);
  }
  return [...files];
}

/** Loads the console's files; with a browser shows the sign-in page and signs in by a one-time link. */
export async function openConsole(gateway: GatewayProcess): Promise<void> {
  const files = await fetchConsole(gateway.url);
  expect(files.filter((name) => name.endsWith('.css'))).not.toEqual([]);
  // The sign-in page and the pages behind it are files of their own.
  expect(files.filter((name) => name.endsWith('.js')).length).toBeGreaterThan(2);
  if (!CHROMIUM) {
    console.log('The sign-in page in a browser is skipped: there is no Chromium (set CHROMIUM to its path).');
    return;
  }
  const browser = await openBrowser();
  try {
    const visit = await openPage(browser);
    await visit.page.goto(`${gateway.url}/console`);
    await visit.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    const { path } = await gateway.admin<{ path: string }>('POST', '/login-link');
    await signInByLink(visit, gateway.url, path);
    expect(visit.complaints).toEqual([]);
  } finally {
    await browser.close();
  }
}

/** A thread verifies passkeys, with a library that has its own requirements of a bundle. */
async function signInWithPasskey(gateway: GatewayProcess): Promise<void> {
  const local = Object.assign(new URL(gateway.url), { hostname: 'localhost' });
  let { host, origin } = local;
  let cookie = '';
  const ask = async (path: string, body: object) => {
    const response = await fetch(`${gateway.url}/console/api${path}`, {
      method: 'POST',
      headers: { host, origin, cookie, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(body),
    });
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
    const answer = (await response.json()) as any;
    expect({ path, status: response.status, answer }).toMatchObject({ status: 200 });
    return answer;
  };
  const { path } = await gateway.admin<{ path: string }>('POST', '/login-link');
  await ask('/sign-in/link', { token: path.replace('/console/#link=', '') });
  const session = await fetch(`${gateway.url}/console/api/session`, { headers: { host, cookie, connection: 'close' } });
  const { publicUrl } = (await session.json()) as { publicUrl: string | null };
  // With a public URL passkeys count for its pages alone.
  ({ host, origin } = publicUrl === null ? local : new URL(publicUrl));
  const device = newPasskeyDevice(origin);
  const adding = await ask('/passkeys/options', {});
  const added = { ceremony: adding.ceremony, response: device.create(adding.options), name: 'Laptop' };
  expect(await ask('/passkeys', added)).toMatchObject({ name: 'Laptop' });
  cookie = '';
  const { ceremony, options } = await ask('/sign-in/passkey/options', {});
  expect(await ask('/sign-in/passkey', { ceremony, response: device.get(options) })).toEqual({ signedIn: true });
}
