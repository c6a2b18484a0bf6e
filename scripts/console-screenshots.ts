/**
 * Screenshots of every page of the console, from a gateway with the sandbox that it starts itself:
 * `node bin/bun.mjs scripts/console-screenshots.ts FOLDER`. Both themes, both languages, and 360 px wide.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { CHROMIUM, openBrowser, openPage, signInByLink } from '../test/helpers/browser.ts';
import { startGateway } from '../test/helpers/gateway-process.ts';

const PATHS = [
  ...[
    '',
    'calls',
    'playground',
    'providers',
    'providers/add',
    'models',
    'limits',
    'accounts',
    'keys',
    'codes',
    'ledger',
  ],
  ...['tasks', 'alerts', 'audit', 'people', 'settings', 'profile'],
];
const NARROW = { width: 360, height: 740 };
const VIEWS = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'chinese', options: { locale: 'zh-CN' } },
  { name: 'narrow', options: { viewport: NARROW } },
] as const;
const CALLS = 12;

const [folder] = process.argv.slice(2);
if (folder === undefined || CHROMIUM === undefined) {
  console.error(
    folder === undefined ? 'Name the folder for the screenshots.' : 'There is no Chromium (set CHROMIUM to its path).',
  );
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

async function take(page: Page, name: string): Promise<void> {
  const path = join(folder as string, `${name}.png`);
  await page.screenshot({ path });
  console.log(path);
}

const [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
try {
  const { key } = await gateway.newCaller();
  for (let call = 0; call < CALLS; call++) {
    const content = call % 5 === 4 ? '[[fail 503]]' : 'Is tomorrow a good day to sail?';
    const model = call % 2 === 0 ? 'sandbox-chat' : 'sandbox-reasoner';
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ model, messages: [{ role: 'user', content }] });
    await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })).text();
  }
  for (const { name, options } of VIEWS) {
    const visit = await openPage(browser, {
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
      ...options,
    });
    const { path: link } = await gateway.admin<{ path: string }>('POST', '/login-link');
    await signInByLink(visit, gateway.url, link);
    for (const path of PATHS) {
      // The first address shows the overview already; loading it anew would ask for a password again.
      if (path === '') await visit.page.waitForLoadState('networkidle');
      else await visit.page.goto(`${gateway.url}/console/${path}`, { waitUntil: 'networkidle' });
      await take(visit.page, `${path.replaceAll('/', '-') || 'overview'}-${name}`);
    }
    await visit.page.goto(`${gateway.url}/console/calls`, { waitUntil: 'networkidle' });
    await visit.page.locator('tbody tr').first().click();
    await visit.page.waitForLoadState('networkidle');
    await take(visit.page, `receipt-${name}`);
    await visit.page.context().close();
  }
} finally {
  await browser.close();
  await gateway.stop();
}
