/** The console of a real gateway: a short walk with a real browser, and who may ask for what with a session. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { PERMISSIONS_OF, ROLES, type Role } from '../../src/access/permissions.ts';
import { exactMoney } from '../../web/src/format/money.ts';
import { violationsOf } from '../helpers/axe.ts';
import { CHROMIUM, openBrowser, openPage, signInByLink, type Visit } from '../helpers/browser.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { FOREIGN_ORIGINS, hasBody, OWN_ORIGIN, ROUTES_OF_PEOPLE } from '../helpers/routes-of-people.ts';

if (!CHROMIUM) console.log('The walk through the console is skipped: there is no Chromium (set CHROMIUM to its path).');

/** `test/system/console-postgres.test.ts` walks over Postgres. */
const databaseUrl = process.env.CONSOLE_WALK_DATABASE;

let gateway: GatewayProcess;
let browser: Browser;
let visit: Visit;
let link: string;

beforeAll(async () => {
  const opened = CHROMIUM ? openBrowser() : undefined;
  gateway = await startGateway(databaseUrl === undefined ? {} : { environment: { DATABASE_URL: databaseUrl } });
  if (!opened) return;
  browser = await opened;
  visit = await openPage(browser);
  link = (await gateway.admin<{ path: string }>('POST', '/login-link')).path;
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** The menu of the owner; each link has the name of its page. */
const PAGES = [
  'Overview',
  'Calls',
  'Providers',
  'Models and prices',
  'Limits',
  'Accounts',
  'Keys',
  'Codes',
  'Ledger',
  'Alerts',
  'Audit',
  'People',
];

const heading = (name: string) => visit.page.getByRole('heading', { level: 1, name, exact: true });

test.skipIf(!CHROMIUM)('a one-time link signs in, and works once', async () => {
  await signInByLink(visit, gateway.url, link);
  expect(visit.page.url()).toBe(`${gateway.url}/console/`);
  const other = await openPage(browser);
  await other.page.goto(gateway.url + link);
  await other.page.getByText('The link was used already or has ended.').waitFor();
  await other.page.context().close();
});

test.skipIf(!CHROMIUM)('a new key is shown once, and its first call leads to a receipt that adds up', async () => {
  const { page } = visit;
  await gateway.newCaller();
  await page.goto(`${gateway.url}/console/keys?open=new`);
  const form = page.getByRole('complementary', { name: 'New key' });
  await form.getByLabel('Name').fill('staging');
  await form.getByLabel('Account').selectOption({ index: 0 });
  await form.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Key “staging” created').waitFor();
  const key = (await page.locator('.secret code').textContent()) ?? '';
  // A browser may refuse the clipboard: then nothing says that the key was copied.
  await page.evaluate(
    `navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); document.execCommand = () => false`,
  );
  await page.getByRole('button', { name: 'Copy key' }).click();
  await page.getByText('You have not copied the key.').waitFor();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect(answer.status).toBe(200);
  await page.getByRole('link', { name: 'Open its receipt' }).click();
  const receipt = page.getByRole('complementary', { name: 'Receipt' });
  await receipt.getByRole('heading', { name: 'Usage × price' }).waitFor();
  const { cost } = await gateway.admin<{ cost: string }>('GET', `/calls/${answer.headers.get('x-request-id')}`);
  expect(await receipt.locator('.facts dd').first().textContent()).toBe(exactMoney(cost));
  expect(await receipt.locator('tfoot .num').last().textContent()).toBe(exactMoney(cost));
  await page.keyboard.press('Escape');
  await receipt.waitFor({ state: 'detached' });
});

test.skipIf(!CHROMIUM)('the overview shows all calls of the period, in at most 120,000 bytes of script', async () => {
  const { page } = visit;
  // Without a password the first-run page comes first.
  const body = JSON.stringify({ password: 'correct horse battery' });
  const asked = { method: 'PUT', headers: { 'content-type': 'application/json' }, body };
  expect(await page.evaluate(`fetch('/console/api/password', ${JSON.stringify(asked)}).then(({ ok }) => ok)`)).toBe(
    true,
  );
  await page.goto(`${gateway.url}/console/`);
  await heading('Overview').waitFor();
  const panel = (name: string) => page.getByRole('region', { name, exact: true });
  await panel('Models').getByRole('link', { name: 'sandbox-chat' }).waitFor();
  await panel('Keys').getByRole('link', { name: 'staging' }).waitFor();
  await panel('Tokens by kind').getByRole('cell', { name: 'Output' }).waitFor();
  const { current } = await gateway.admin<{ current: { calls: number } }>('GET', '/overview');
  expect(await page.locator('.figure').nth(1).locator('dd').first().textContent()).toContain(String(current.calls));
  const scripts = await page.evaluate<{ name: string; encodedBodySize: number }[]>(
    "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map(({ name, encodedBodySize }) => ({ name, encodedBodySize }))",
  );
  const texts = await Promise.all(scripts.map(async ({ name }) => (await fetch(name)).text()));
  // Charts are loaded on demand.
  const counted = scripts.filter((_, index) => !texts[index]?.includes('u-over'));
  expect(counted.length).toBeGreaterThan(2);
  const bytes = counted.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0);
  expect(bytes).toBeGreaterThan(60_000);
  expect(bytes).toBeLessThan(120_000);
});

test.skipIf(!CHROMIUM)('every page has one heading and one main part, and nothing complains', async () => {
  const { page, complaints } = visit;
  const menu = page.getByRole('navigation', { name: 'Main' });
  for (const name of PAGES) {
    await menu.getByRole('link', { name, exact: true }).click();
    await heading(name).waitFor();
    expect([name, await page.locator('h1').count(), await page.locator('main').count()]).toEqual([name, 1, 1]);
  }
  expect(complaints).toEqual([]);
});

test.skipIf(!CHROMIUM)('a payload is read when somebody asks for it, once, and its absence is said', async () => {
  const { page } = visit;
  const { key } = await gateway.newCaller();
  const chat = async (content: string) => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content }] }),
    });
    await answer.text();
    return answer.headers.get('x-request-id') ?? '';
  };
  const readings = async (call: string) => {
    const { data } = await gateway.admin<{ data: { subject: string }[] }>('GET', '/audit?action=payload.read');
    return data.filter(({ subject }) => subject === call).length;
  };
  const show = page.getByRole('button', { name: 'Show payload' });
  const plain = await chat('Hello');
  await page.goto(`${gateway.url}/console/calls?call=${plain}`);
  await show.waitFor();
  expect(await readings(plain)).toBe(0);
  await show.click();
  await page.getByText('Nothing of this call was captured, or it is not kept any more.').waitFor();
  expect(await readings(plain)).toBe(1);

  const { data: keys } = await gateway.admin<{ data: { id: string; last4: string }[] }>('GET', '/keys');
  const id = keys.find(({ last4 }) => key.endsWith(last4))?.id;
  await gateway.admin('PATCH', `/keys/${id}`, { capture: 'full' });
  const captured = await chat('Kept for the payload panel');
  // A capture is stored after the answer.
  while (!/^modelport_captures_total\S* 1$/m.test(await gateway.metrics())) await Bun.sleep(50);
  await page.goto(`${gateway.url}/console/calls?call=${captured}`);
  await show.click();
  await page.locator('pre', { hasText: 'Kept for the payload panel' }).waitFor();
  expect(await readings(captured)).toBe(1);
  expect(await show.count()).toBe(0);
});

test.skipIf(!CHROMIUM)(
  'a passkey is set up at the first start, signs in, confirms and is removed',
  async () => {
    // Passkeys need the name of a host.
    const url = gateway.url.replace('127.0.0.1', 'localhost');
    const own = await openPage(browser, { bypassCSP: true, reducedMotion: 'reduce' });
    const { page } = own;
    const devices = await page.context().newCDPSession(page);
    await devices.send('WebAuthn.enable');
    const kind = { protocol: 'ctap2', transport: 'internal' } as const;
    const abilities = { hasResidentKey: true, hasUserVerification: true, isUserVerified: true };
    const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
      options: { ...kind, ...abilities, automaticPresenceSimulation: true },
    });
    const title = (name: string) => page.getByRole('heading', { level: 1, name, exact: true });
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const ann = { name: 'Ann', role: 'owner' };
    const { link } = await gateway.admin<{ link: { path: string } }>('POST', '/people', ann);
    await page.goto(url + link.path);
    await button('Add a passkey instead').click();
    await title('Playground').waitFor();
    await page.goto(`${url}/console/profile`);
    await button('Sign out').click();
    await button('Use a passkey').click();
    await title('Overview').waitFor();

    const { id: account } = await gateway.admin<{ id: string }>('POST', '/accounts', { name: 'to-remove' });
    const { id: key } = await gateway.admin<{ id: string }>('POST', '/keys', { account, name: 'doomed' });
    await page.goto(`${url}/console/keys?open=${key}`);
    await button('Delete key').click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Delete key', exact: true }).isDisabled()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    // Nobody touches the device: the key stays.
    await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await button('Confirm with a passkey instead').click();
    await page.getByText('No passkey was used').waitFor();
    await devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await button('Confirm with a passkey instead').click();
    await dialog.waitFor({ state: 'detached' });
    const { data: keys } = await gateway.admin<{ data: { name: string }[] }>('GET', `/keys?account=${account}`);
    expect(keys).toEqual([]);

    await page.goto(`${url}/console/profile`);
    await page.getByRole('button', { name: 'Rename the passkey' }).click();
    await page.getByRole('textbox', { name: 'Rename the passkey' }).fill('Desk');
    await button('Save').last().click();
    await button('Remove the passkey Desk').click();
    expect(await violationsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await dialog.getByText('Without a passkey you need a password').waitFor();
    await button('Cancel').click();
    await page.getByLabel('New password').fill('a long enough password');
    await button('Set password').click();
    await button('Change password').waitFor();
    await button('Remove the passkey Desk').click();
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('None yet.').waitFor();
    // The browser logs each answer that is an error.
    expect(own.complaints.filter((text) => !text.includes('409'))).toEqual([]);
    await page.context().close();
  },
  120_000,
);

test.skipIf(!CHROMIUM)('the list of calls shows a call when it ends, from a stream', async () => {
  const { page } = visit;
  const { key } = await gateway.newCaller();
  const streamed = page.waitForResponse((response) => response.url().includes('/admin/v1/calls/stream'));
  await page.goto(`${gateway.url}/console/calls?model=sandbox-chat`);
  expect((await streamed).status()).toBe(200);
  await page.locator('tbody tr').first().waitFor();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'Live' }] }),
  });
  await page
    .locator(`tbody a[href*="${answer.headers.get('x-request-id')}"]`)
    .first()
    .waitFor();
});

test.skipIf(!CHROMIUM)('the ledger shows the newest entry first', async () => {
  const { page } = visit;
  const { account } = await gateway.newCaller();
  for (let i = 0; i < 51; i++) await gateway.admin('POST', `/accounts/${account}/top-ups`, { amount: '1' });
  await page.goto(`${gateway.url}/console/ledger?account=${account}`);
  const entry = (number: number) => page.locator('tbody tr td:nth-child(2)').getByText(`${number}`, { exact: true });
  await entry(52).waitFor();
  expect(await page.locator('tbody tr td:nth-child(2)').first().textContent()).toBe('52');
  await page.getByRole('button', { name: 'Older', exact: true }).click();
  await entry(1).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(2);
  await page.getByRole('button', { name: 'Newer', exact: true }).click();
  await entry(52).waitFor();
});

test.skipIf(!CHROMIUM)('the ledger is proved, and Chinese is chosen from the palette', async () => {
  const { page } = visit;
  await page.goto(`${gateway.url}/console/ledger`);
  await page.getByRole('button', { name: 'Prove the ledger' }).click();
  await page.getByText(/^Proved: /).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('切换到中文');
  await page.keyboard.press('Enter');
  await heading('账本').waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
});

// Last: the walk over all routes changes what the tests above show.
describe('over HTTP', () => {
  const ask = (method: string, path: string, headers: { [name: string]: string }, body?: object) =>
    fetch(gateway.url + path, {
      ...{ method, redirect: 'manual', headers: { ...headers, ...(body && { 'content-type': 'application/json' }) } },
      ...(body && { body: JSON.stringify(body) }),
    });
  /** Reads no body: the stream of calls does not end. */
  async function statusOf(method: string, path: string, headers: { [name: string]: string }): Promise<number> {
    const { status, body } = await ask(method, path, headers, hasBody(method) ? {} : undefined);
    await body?.cancel();
    return status;
  }
  const isOpen = async (cookie: string) => (await statusOf('GET', '/console/api/sessions', { cookie })) === 200;

  async function newPerson(role: Role): Promise<{ id: string; token: string }> {
    const { data } = await gateway.admin<{ data: { id: string }[] }>('GET', '/accounts?limit=1');
    const asked = { name: `The ${role}`, role, accounts: data.map(({ id }) => id) };
    const { id, link } = await gateway.admin<{ id: string; link: { path: string } }>('POST', '/people', asked);
    return { id, token: link.path.replace('/console/#link=', '') };
  }
  const newLink = async (person: string) =>
    (await gateway.admin<{ path: string }>('POST', `/people/${person}/login-link`)).path.replace('/console/#link=', '');

  /** The cookie of the session that the link begins. */
  async function open(token: string, before?: string): Promise<string> {
    const headers = { ...OWN_ORIGIN, ...(before && { cookie: before }) };
    const answer = await ask('POST', '/console/api/sign-in/link', headers, { token });
    expect(answer.status).toBe(200);
    const written = answer.headers.get('set-cookie') ?? '';
    expect(written).toContain('; HttpOnly; SameSite=Lax');
    return written.split(';')[0] ?? '';
  }
  const signedIn = async (role: Role) => open((await newPerson(role)).token);

  test('each route answers each role as its permission says, and nobody without a session', async () => {
    const invented = `modelport_session=${'a'.repeat(43)}`;
    const asked: [string, Role | undefined, { [name: string]: string }][] = [
      ['without a session', undefined, OWN_ORIGIN],
      ['with an invented cookie', undefined, { ...OWN_ORIGIN, cookie: invented }],
    ];
    for (const role of ROLES) asked.push([role, role, { ...OWN_ORIGIN, cookie: await signedIn(role) }]);
    // Signing out ends the session that the others need; the next test signs out.
    const routes = ROUTES_OF_PEOPLE.filter(({ path }) => path !== '/console/api/sign-out');
    expect(routes.length).toBeGreaterThan(100);
    const wrong: string[] = [];
    for (const [who, role, headers] of asked)
      for (const { method, asked: path, permission } of routes) {
        const status = await statusOf(method, path, headers);
        const isAllowed = role && (permission === undefined || PERMISSIONS_OF[role].has(permission));
        const isRight = isAllowed
          ? status !== 401 && status !== 403 && status < 500
          : status === (role === undefined ? 401 : 403);
        if (!isRight) wrong.push(`${who}: ${method} ${path} ${status}`);
      }
    expect(wrong).toEqual([]);
  }, 120_000);

  test('a page of another origin changes nothing with the cookie of an owner', async () => {
    const { id, token } = await newPerson('owner');
    const cookie = await open(token);
    const link = await newLink(id);
    const changes = ROUTES_OF_PEOPLE.filter(({ method }) => method !== 'GET');
    const wrong: string[] = [];
    for (const [what, headers] of Object.entries(FOREIGN_ORIGINS)) {
      for (const { method, asked } of changes) {
        const status = await statusOf(method, asked, { ...headers, cookie });
        if (status !== 403) wrong.push(`${what}: ${method} ${asked} ${status}`);
      }
      // Nor does it sign its visitor in as somebody else.
      const forced = await ask('POST', '/console/api/sign-in/link', headers, { token: link });
      expect([what, forced.status, forced.headers.get('set-cookie')]).toEqual([what, 403, null]);
    }
    expect(wrong).toEqual([]);
    expect(await isOpen(cookie)).toBe(true);
    expect(await isOpen(await open(link))).toBe(true);
  }, 120_000);

  test('a cookie that was planted before the sign-in opens nothing after it', async () => {
    const { id, token } = await newPerson('owner');
    const invented = `modelport_session=${'b'.repeat(43)}`;
    const own = await open(token, invented);
    const attacker = await signedIn('member');
    const next = await open(await newLink(id), attacker);
    expect(new Set([invented, own, attacker, next]).size).toBe(4);
    expect(await isOpen(next)).toBe(true);
    for (const planted of [invented, attacker]) expect(await isOpen(planted)).toBe(false);
  });

  test('a copied cookie opens nothing once its session has ended, however it ended', async () => {
    const { id, token } = await newPerson('owner');
    const own = { ...OWN_ORIGIN, cookie: await open(token) };
    const ends: { [how: string]: (copied: string) => Promise<unknown> } = {
      'ended in the list of sessions': async () => {
        const list = await ask('GET', '/console/api/sessions', own);
        const { data } = (await list.json()) as { data: { id: string; current: boolean }[] };
        const others = data.filter(({ current }) => !current);
        expect(others).toHaveLength(1);
        return statusOf('DELETE', `/console/api/sessions/${others[0]?.id}`, own);
      },
      'signed out': (copied) => statusOf('POST', '/console/api/sign-out', { ...OWN_ORIGIN, cookie: copied }),
      'signed out by an admin': () => gateway.admin('POST', `/people/${id}/sign-out`),
      'the person disabled': () => gateway.admin('POST', `/people/${id}/disable`),
    };
    for (const [how, end] of Object.entries(ends)) {
      const copied = await open(await newLink(id));
      const states = async () => {
        const headers = { ...OWN_ORIGIN, cookie: copied };
        const paths = ['/console/api/sessions', '/admin/v1/accounts', '/console/api/account', '/admin/v1/calls/stream'];
        const asked = paths.map((path) => statusOf('GET', path, headers));
        return Promise.all([...asked, statusOf('POST', '/admin/v1/login-link', headers)]);
      };
      expect([how, await states()]).toEqual([how, [200, 200, 200, 200, 200]]);
      await end(copied);
      expect([how, await states()]).toEqual([how, [401, 401, 401, 401, 401]]);
      const session = await ask('GET', '/console/api/session', { cookie: copied });
      expect(await session.json()).toMatchObject({ person: null });
    }
  });
});
