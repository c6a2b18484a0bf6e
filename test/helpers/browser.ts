/** A real browser for tests of the console: the system's Chromium, driven by playwright-core, which downloads nothing. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export const CHROMIUM: string | undefined = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path));

/** Generous: several browsers and gateways share a slow machine's processors. */
const PATIENCE_MS = 60_000;

export function openBrowser(): Promise<Browser> {
  // As root, Chromium's sandbox cannot start.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: CHROMIUM as string, args, timeout: PATIENCE_MS });
}

/** What each page is waiting for. */
const loading = new WeakMap<Page, ReadonlySet<Request>>();

export interface Visit {
  page: Page;
  /** Errors and warnings of the page: scripts that failed, what the policy refused, missing files. */
  complaints: string[];
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    timezoneId: 'UTC',
    locale: 'en-GB',
    // Without a graphics processor each frame of an animation costs time.
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const pending = new Set<Request>();
  loading.set(page, pending);
  page.on('request', (request) => {
    // The stream of calls does not end.
    if (!request.url().includes('/calls/stream')) pending.add(request);
  });
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', (request) => pending.delete(request));
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  return { page, complaints };
}

/** Opens another page of the console as a link does, with everything that it reads: a tenth of the time of loading its document. */
export async function openInside(page: Page, path: string): Promise<void> {
  const here = new URL(page.url());
  if (here.pathname === new URL(path, here).pathname) throw new Error(`${path}: this page is open already`);
  await page.evaluate(
    `document.querySelector('main h1')?.setAttribute('data-left', ''); history.pushState({}, '', ${JSON.stringify(path)})`,
  );
  await page.locator('main h1:not([data-left])').waitFor();
  // One answer may lead to the next question.
  const quiet = "new Promise((resolve) => setTimeout(() => requestAnimationFrame(() => resolve('quiet'))))";
  do await page.evaluate(quiet);
  while (loading.get(page)?.size);
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
}

/** Signs the first owner in by a one-time link, and leaves the page that asks for a password. */
export async function signInByLink({ page }: Visit, url: string, link: string): Promise<void> {
  await page.goto(url + link);
  const heading = page.getByRole('heading', { level: 1 });
  await heading.filter({ hasText: /Welcome|Overview|欢迎|数据看板/ }).waitFor();
  if (/Welcome|欢迎/.test((await heading.textContent()) ?? ''))
    await page.getByRole('button', { name: /Later|稍后/ }).click();
  await heading.filter({ hasText: /Overview|数据看板/ }).waitFor();
}
