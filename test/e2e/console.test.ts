/** The console of a real gateway: a short walk with a real browser. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { exactMoney } from '../../web/src/format/amounts.ts';
import { violationsOf } from '../helpers/axe.ts';
import { CHROMIUM, openBrowser, openInside, openPage, signInByLink, type Visit } from '../helpers/browser.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';

if (!CHROMIUM) console.log('The walk through the console is skipped: there is no Chromium (set CHROMIUM to its path).');

let gateway: GatewayProcess;
let browser: Browser;
/** The tests share one window: a new one costs as much as ten pages. */
let visit: Visit;
/** Passkeys need the name of a host. */
let url: string;
let link: string;

beforeAll(async () => {
  if (!CHROMIUM) return;
  [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
  url = gateway.url.replace('127.0.0.1', 'localhost');
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
  const { page, complaints } = visit;
  await signInByLink(visit, url, link);
  expect(page.url()).toBe(`${url}/console/`);
  // With a query it is another document, which is loaded.
  await page.goto(url + link.replace('#', '?#'));
  await page.getByText('The link was used already or has ended.').waitFor();
  expect(complaints.splice(0)).toEqual([expect.stringContaining('401')]);
});

test.skipIf(!CHROMIUM)('a new key is shown once, and its first call leads to a receipt that adds up', async () => {
  const { page } = visit;
  await gateway.newCaller();
  await page.goto(`${url}/console/keys?open=new`);
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
  await page.goto(`${url}/console/`);
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
  await page.goto(`${url}/console/calls?call=${plain}`);
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
  await page.goto(`${url}/console/calls?call=${captured}`);
  await show.click();
  await page.locator('pre', { hasText: 'Kept for the payload panel' }).waitFor();
  expect(await readings(captured)).toBe(1);
  expect(await show.count()).toBe(0);
});

test.skipIf(!CHROMIUM)(
  'a passkey is set up at the first start, signs in, confirms and is removed',
  async () => {
    const { page, complaints } = visit;
    const before = complaints.length;
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
    await openInside(page, '/console/profile');
    await button('Sign out').click();
    await button('Use a passkey').click();
    await title('Overview').waitFor();

    const { id: account } = await gateway.admin<{ id: string }>('POST', '/accounts', { name: 'to-remove' });
    const { id: key } = await gateway.admin<{ id: string }>('POST', '/keys', { account, name: 'doomed' });
    await openInside(page, `/console/keys?open=${key}`);
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

    await openInside(page, '/console/profile');
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
    expect(complaints.slice(before).filter((text) => !text.includes('409'))).toEqual([]);
  },
  120_000,
);

test.skipIf(!CHROMIUM)('the list of calls shows a call when it ends, from a stream', async () => {
  const { page } = visit;
  const { key } = await gateway.newCaller();
  const streamed = page.waitForResponse((response) => response.url().includes('/admin/v1/calls/stream'));
  await page.goto(`${url}/console/calls?model=sandbox-chat`);
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
  await openInside(page, `/console/ledger?account=${account}`);
  const entry = (number: number) => page.locator('tbody tr td:nth-child(2)').getByText(`${number}`, { exact: true });
  await entry(52).waitFor();
  expect(await page.locator('tbody tr td:nth-child(2)').first().textContent()).toBe('52');
  await page.getByRole('button', { name: 'Older', exact: true }).click();
  await entry(1).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(2);
  await page.getByRole('button', { name: 'Newer', exact: true }).click();
  await entry(52).waitFor();
});

test.skipIf(!CHROMIUM)('the ledger is verified, and Chinese is chosen from the palette', async () => {
  const { page } = visit;
  await page.getByRole('button', { name: 'Verify the ledger' }).click();
  await page.getByText(/^Verified: /).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('切换到中文');
  await page.keyboard.press('Enter');
  await heading('账本').waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
});
