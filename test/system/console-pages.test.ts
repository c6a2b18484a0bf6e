/**
 * Every page of the console in both themes and languages (axe finds no violation), 360 px wide, and as a member sees it. English is walked over
 * SQLite, Chinese over Postgres; what a theme or a width cannot change is asked once.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { CONTRAST, isNotWide, NARROW_RULES, violationsOf } from '../helpers/axe.ts';
import { CHROMIUM, openBrowser, openInside, openPage, signInByLink, type Visit } from '../helpers/browser.ts';
import { ENGINES } from '../helpers/engines.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { type SmtpServer, startSmtpServer } from '../helpers/smtp-server.ts';
import { answersAreLost, aProviderIsAdded, operationsArePressed } from './console-scenes.ts';

if (!CHROMIUM) console.log('The pages of the console are skipped: there is no Chromium (set CHROMIUM to its path).');

/** No page follows itself: each is opened from another. */
const PATHS = [
  ...['/calls', '/providers', '/providers/add?provider=sandbox', '/models?open=sandbox-chat', '/accounts'],
  ...['/keys?open=new', '/people', '/ledger', '/limits', '/codes?open=new', '/limits?tab=keys', '/alerts', '/audit'],
  ...[
    '/alerts?tab=channels',
    '/profile',
    '/alerts?tab=rules',
    '/settings',
    '/playground',
    '/tasks',
    '/providers/add',
    '/',
  ],
].map((path) => `/console${path}`);

const MEMBER_PATHS = ['/', '/calls', '/usage', '/keys', '/playground', '/reference', '/profile'].map(
  (path) => `/console${path}`,
);

/** A provider that nobody can reach, and registration. */
const ENVIRONMENT = {
  ...{ MODELPORT_PUBLIC_URL: 'http://models.example.test', MODELPORT_OIDC_ISSUER: 'http://127.0.0.1:9' },
  ...{ MODELPORT_OIDC_CLIENT_ID: 'modelport', MODELPORT_OIDC_NAME: 'Test SSO' },
  ...{ MODELPORT_REGISTRATION: 'on', MODELPORT_REGISTRATION_CREDIT: '1.5' },
};

let smtp: SmtpServer;
/** Over SQLite, and over Postgres where it is installed. */
let english: GatewayProcess;
let chinese: GatewayProcess;
let browser: Browser;
/** The owner in each language, and people who are not signed in yet: tests share windows, of which a new one costs as much as ten pages. */
let ownerInEnglish: Visit;
let ownerInChinese: Visit;
let guest: Visit;

async function startOver(engine: (typeof ENGINES)[number] | undefined): Promise<GatewayProcess> {
  const database = await engine?.freshDatabase();
  const { databaseUrl } = database?.settings ?? {};
  const gateway = await startGateway({
    environment: { ...ENVIRONMENT, ...(databaseUrl && { DATABASE_URL: databaseUrl }) },
  });
  const mail = { name: 'mail', type: 'email', server: `smtp://127.0.0.1:${smtp.port}`, from: 'gateway@example.test' };
  await gateway.admin('POST', '/alerts/channels', { ...mail, to: ['ops@example.test'], rules: [] });
  const caller = await gateway.newCaller();
  for (const content of ['Hello', '[[fail 503]]']) await chat(gateway, caller.key, content);
  return gateway;
}

beforeAll(async () => {
  if (!CHROMIUM) return;
  smtp = await startSmtpServer();
  const [sqlite, postgres = sqlite] = ENGINES;
  [english, chinese, browser] = await Promise.all([startOver(sqlite), startOver(postgres), openBrowser()]);
  const inChinese = { locale: 'zh-CN' };
  [ownerInEnglish, ownerInChinese, guest] = await Promise.all([
    signedIn(english),
    signedIn(chinese, inChinese),
    openPage(browser, inChinese),
  ]);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await Promise.all([english?.stop(), chinese?.stop()]);
  smtp?.stop();
});

const chat = (gateway: GatewayProcess, key: string, content: string) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content }] }),
  });

async function signedIn(gateway: GatewayProcess, options: Parameters<typeof openPage>[1] = {}): Promise<Visit> {
  const visit = await openPage(browser, options);
  const { path } = await gateway.admin<{ path: string }>('POST', '/login-link');
  await signInByLink(visit, gateway.url, path);
  return visit;
}

test.skipIf(!CHROMIUM)(
  'people register themselves and see a provider that is down',
  async () => {
    const { page, complaints } = guest;
    const isClean = async () => {
      expect(await violationsOf(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await violationsOf(page, CONTRAST)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'light' });
    };
    await page.goto(`${chinese.url}/console/`);
    await page.getByRole('link', { name: 'Test SSO' }).click();
    await page.getByText('登录服务暂时没有响应').waitFor();
    await page.getByRole('button', { name: '$1.50' }).waitFor();
    await isClean();
    await page.getByRole('button', { name: '$1.50' }).click();
    await page.getByRole('heading', { level: 1, name: '注册账户' }).waitFor();
    const address = 'ann@example.test';
    await page.getByRole('textbox').fill(address);
    await isClean();
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: address }).waitFor();
    await isClean();
    let mail: string | undefined;
    while (mail === undefined) {
      mail = smtp.mails.find(({ to }) => to.includes(address))?.data;
      await Bun.sleep(5);
    }
    const token = /#register=3D([\w-]{43})|#register=([\w-]{43})/.exec(mail.replace(/=\r\n/g, '')) ?? [];
    // With a query it is another document, which is loaded.
    await page.goto(`${chinese.url}/console/?#register=${token[1] ?? token[2]}`);
    await page.getByLabel('姓名').fill('Ann');
    await page.getByLabel('密码', { exact: true }).fill('correct horse battery');
    await isClean();
    await page.keyboard.press('Enter');
    await page.getByText('$1.50').first().waitFor();
    expect(await chinese.verify()).toMatchObject({ ok: true });
    expect(complaints).toEqual([]);
    // Nobody is signed in for the next test.
    await page.goto('about:blank');
    await page.context().clearCookies();
  },
  300_000,
);

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 360, height: 740 };

interface View {
  viewport: typeof WIDE;
  colorScheme: 'light' | 'dark';
  /** By default all. */
  rules?: readonly string[];
}

test.skipIf(!CHROMIUM)(
  'in English, axe finds no violation in either theme, nothing is wider than 360 px, and the menu opens from its button',
  async () => {
    const { page, complaints } = ownerInEnglish;
    // A run of axe costs as much as two pages: dark and narrow are asked together.
    const views: View[] = [
      { viewport: WIDE, colorScheme: 'light' },
      { viewport: NARROW, colorScheme: 'dark', rules: [...CONTRAST, ...NARROW_RULES] },
    ];
    const look = async (path: string, { viewport, colorScheme, rules }: View) => {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      expect([path, colorScheme, await violationsOf(page, rules)]).toEqual([path, colorScheme, []]);
      if (viewport === NARROW) await isNotWide(page, path);
    };
    for (const [index, path] of PATHS.entries()) {
      await openInside(page, path);
      // The second of two pages is opened as narrow as the first was left.
      for (const view of index % 2 === 0 ? views : views.toReversed()) await look(path, view);
    }
    await look('the menu', { viewport: WIDE, colorScheme: 'dark', rules: CONTRAST });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(NARROW);
    await page.getByRole('button', { name: 'Open menu' }).click();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Calls', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    await page.setViewportSize(WIDE);
    expect(complaints).toEqual([]);
  },
  600_000,
);

test.skipIf(!CHROMIUM)(
  'in Chinese, titles are translated, and nothing is wider than 360 px',
  async () => {
    const { page, complaints } = ownerInChinese;
    await page.setViewportSize(NARROW);
    for (const path of PATHS) {
      await openInside(page, path);
      await isNotWide(page, path);
      const title = (await page.locator('main h1').textContent()) ?? '';
      expect([path, /\p{Script=Han}/u.test(title)]).toEqual([path, true]);
      await page.waitForFunction(`document.title === ${JSON.stringify(`${title} · Modelport`)}`);
    }
    await page.setViewportSize(WIDE);
    expect(complaints).toEqual([]);
  },
  600_000,
);

test.skipIf(!CHROMIUM)(
  'a member in a second browser redeems a code, makes a key and a call in Chinese, and the owner sees the call',
  async () => {
    const gateway = chinese;
    const owner = ownerInChinese;
    const { id: account } = await gateway.admin<{ id: string }>('POST', '/accounts', { name: 'reading-room' });
    const invited = { name: 'Mia', role: 'member', accounts: [account] };
    const mia = await gateway.admin<{ id: string; link: { path: string } }>('POST', '/people', invited);
    const { code } = await gateway.admin<{ code: string }>('POST', '/codes', { amount: '2' });
    const member = guest;
    const { page } = member;
    await page.goto(gateway.url + mia.link.path);
    await page.getByRole('button', { name: '稍后设置' }).click();
    await page.getByRole('heading', { level: 1, name: '首页' }).waitFor();
    await page.getByRole('button', { name: '使用兑换码', exact: true }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').fill(code);
    await dialog.getByRole('button', { name: '使用兑换码', exact: true }).click();
    await dialog.getByText('已充入').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');

    await openInside(page, '/console/keys?open=new');
    const form = page.getByRole('complementary', { name: '新建令牌' });
    await form.getByLabel('名称').fill('laptop');
    await form.getByRole('button', { name: '创建令牌' }).click();
    await page.getByText('令牌“laptop”已创建').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const answer = await chat(gateway, (await page.locator('.secret code').textContent()) ?? '', 'Hello');
    expect(answer.status).toBe(200);
    await page.getByRole('link', { name: '打开明细' }).click();
    const costIn = async (visit: Visit, name: string) => {
      const receipt = visit.page.getByRole('complementary', { name });
      return receipt.locator('.facts dd').first().textContent();
    };
    const call = answer.headers.get('x-request-id');
    await openInside(owner.page, `/console/calls?call=${call}`);
    const cost = await costIn(owner, '调用明细');
    expect(cost).toMatch(/^\$0\.0*[1-9]/);
    expect(await costIn(member, '调用明细')).toBe(cost);
    expect(await violationsOf(page)).toEqual([]);
    for (const path of MEMBER_PATHS) {
      await openInside(page, path);
      expect([path, await violationsOf(page)]).toEqual([path, []]);
    }
    expect([owner.complaints, member.complaints]).toEqual([[], []]);

    // What a member may not see is not in the menu, and its page says so.
    const menu = page.getByRole('navigation').first();
    expect(await menu.getByRole('link', { name: '用户', exact: true }).count()).toBe(0);
    await openInside(page, '/console/people');
    await page.getByText('当前角色无权查看').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(0);
    await gateway.admin('POST', `/people/${mia.id}/sign-out`);
    await page.goto(`${gateway.url}/console/`);
    await page.getByRole('heading', { level: 1, name: '登录' }).waitFor();
    // Of the others nobody is signed out.
    await openInside(owner.page, '/console/people');
    expect(await gateway.verify()).toMatchObject({ ok: true });
  },
  300_000,
);

test.skipIf(!CHROMIUM)(
  'of a long list the first 100 rows are shown, and more when they are asked for; a long name leaves the other columns in sight',
  async () => {
    for (let n = 0; n < 120; n++) await english.admin('POST', '/accounts', { name: `many-${n}` });
    const hostile = ['x'.repeat(200), '<img src=x onerror=alert(1)>', '\u202e\u0634\u0631\u0643\u0629'];
    for (const name of hostile) await english.admin('POST', '/accounts', { name });
    const { page, complaints } = ownerInEnglish;
    // Loaded: inside the console a list may be five seconds old.
    await page.goto(`${english.url}/console/accounts`);
    const more = page.getByRole('button', { name: 'Show more rows' });
    await more.waitFor();
    expect(await page.locator('tbody tr').count()).toBe(100 + 1);
    expect(await violationsOf(page)).toEqual([]);
    await more.click();
    await more.waitFor({ state: 'detached' });
    expect(await page.locator('tbody tr').count()).toBeGreaterThanOrEqual(120);
    await page.getByText(hostile[1] as string).waitFor();
    const hidden =
      "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('main .scroll'))";
    expect(await page.evaluate<number>(hidden)).toBe(0);
    expect(complaints).toEqual([]);
  },
  300_000,
);

test.skipIf(!CHROMIUM)(
  'a provider is added with its key, the models that it lists are shown, and a test call has latency and cost',
  () => aProviderIsAdded(english, ownerInEnglish),
  300_000,
);

test.skipIf(!CHROMIUM)(
  'what a lost answer was about is done once, a new key is not left uncopied, and a form outlives its session',
  () => answersAreLost(english, ownerInEnglish),
  300_000,
);

test.skipIf(!CHROMIUM)(
  'a rule is turned off, a channel is tested and removed, and a finished video has a player',
  () => operationsArePressed(english, ownerInEnglish, smtp),
  300_000,
);

test.skipIf(!CHROMIUM)(
  'a receipt is reached, read and left with the keyboard alone',
  async () => {
    const { page, complaints } = ownerInEnglish;
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
    expect(complaints).toEqual([]);
  },
  300_000,
);

// Last: it signs the owner out.
test.skipIf(!CHROMIUM)(
  'all tabs show who is signed in now, and nothing of who was before',
  async () => {
    const { page } = ownerInEnglish;
    const title = (of: typeof page, name: string) => of.getByRole('heading', { level: 1, name, exact: true });
    await page.getByRole('link', { name: 'Accounts', exact: true }).click();
    await title(page, 'Accounts').waitFor();
    await openInside(page, '/console/');
    const { id: account } = await english.admin<{ id: string }>('POST', '/accounts', { name: 'tab-room' });
    const tim = { name: 'Tim', role: 'member', accounts: [account] };
    const { link } = await english.admin<{ link: { path: string } }>('POST', '/people', tim);
    const other = await page.context().newPage();
    await other.goto(english.url + link.path);
    await other.getByRole('button', { name: 'Later' }).click();
    await title(other, 'Home').waitFor();
    // Without windows on a screen nothing says that the first tab is looked at again.
    const lookAgain = () => page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await lookAgain();
    // The first page of whoever comes: Tim has neither password nor passkey.
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Overview' }).waitFor();
    expect(await page.getByRole('link', { name: 'People', exact: true }).count()).toBe(0);
    await other.goto(`${english.url}/console/profile`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await title(other, 'Sign in').waitFor();
    await other.goBack();
    await title(other, 'Sign in').waitFor();
    await lookAgain();
    await title(page, 'Sign in').waitFor();
    // A deep link leads to its page after the sign-in.
    const again = await english.admin<{ path: string }>('POST', '/login-link');
    await page.goto(`${english.url}/console/limits?tab=keys${again.path.replace('/console/', '')}`);
    await title(page, 'Limits').waitFor();
  },
  300_000,
);
