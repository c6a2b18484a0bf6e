/** Every page of the console in both themes (axe finds no violation), in Chinese, and 360 px wide. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { violationsOf } from '../helpers/axe.ts';
import { CHROMIUM, openBrowser, openPage, signInByLink, type Visit } from '../helpers/browser.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';

if (!CHROMIUM) console.log('The pages of the console are skipped: there is no Chromium (set CHROMIUM to its path).');

const PATHS = [
  ...['/', '/calls', '/providers', '/providers/add', '/models?open=sandbox-chat', '/accounts', '/keys?open=new'],
  ...['/people', '/ledger', '/codes?open=new', '/limits', '/limits?tab=keys', '/alerts', '/alerts?tab=channels'],
  ...['/alerts?tab=rules', '/audit', '/profile', '/settings', '/playground', '/tasks'],
].map((path) => `/console${path}`);

let gateway: GatewayProcess;
let browser: Browser;

beforeAll(async () => {
  if (!CHROMIUM) return;
  [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
  const caller = await gateway.newCaller();
  for (const content of ['Hello', '[[fail 503]]']) {
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content }] }),
    });
  }
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

async function signedIn(options: Parameters<typeof openPage>[1]): Promise<Visit> {
  const visit = await openPage(browser, options);
  const { path } = await gateway.admin<{ path: string }>('POST', '/login-link');
  await signInByLink(visit, gateway.url, path);
  return visit;
}

/** The page with everything that it reads. */
async function settle({ page }: Visit, path: string): Promise<void> {
  await page.goto(gateway.url + path, { waitUntil: 'networkidle' });
  await page.locator('main h1').waitFor();
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
}

test.skipIf(!CHROMIUM).each(['light', 'dark'] as const)(
  'axe finds no violation in the %s theme',
  async (colorScheme) => {
    const visit = await signedIn({ colorScheme, bypassCSP: true, reducedMotion: 'reduce' });
    for (const path of PATHS) {
      await settle(visit, path);
      expect([path, await violationsOf(visit.page)]).toEqual([path, []]);
    }
    await visit.page.context().close();
  },
  600_000,
);

test.skipIf(!CHROMIUM)(
  'nothing is wider than 360 px, and the menu opens from its button',
  async () => {
    const visit = await signedIn({ viewport: { width: 360, height: 740 } });
    for (const path of PATHS) {
      await settle(visit, path);
      const wider = await visit.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect([path, wider]).toEqual([path, 0]);
    }
    await visit.page.getByRole('button', { name: 'Open menu' }).click();
    await visit.page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Calls', exact: true })
      .click();
    await visit.page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    await visit.page.context().close();
  },
  600_000,
);

test.skipIf(!CHROMIUM)(
  'a receipt is reached, read and left with the keyboard alone',
  async () => {
    const visit = await signedIn({});
    const { page } = visit;
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    await page.locator('tbody tr').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const receipt = page.getByRole('complementary', { name: 'Receipt' });
    await receipt.getByRole('heading', { name: 'Attempts' }).waitFor();
    await page.keyboard.press('Escape');
    await receipt.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
    await page.context().close();
  },
  300_000,
);
