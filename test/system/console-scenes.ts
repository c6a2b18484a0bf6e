/** Scenes of the console that `console-pages.test.ts` plays: several pages each, in a window that is signed in. */
import { expect } from 'bun:test';
import { violationsOf } from '../helpers/axe.ts';
import { openInside, type Visit } from '../helpers/browser.ts';
import type { GatewayProcess } from '../helpers/gateway-process.ts';
import { startListingProvider } from '../helpers/listing-provider.ts';
import type { SmtpServer } from '../helpers/smtp-server.ts';

/** Its key is checked, its models are listed, and a test call is made. */
export async function aProviderIsAdded(gateway: GatewayProcess, { page, complaints }: Visit): Promise<void> {
  using provider = startListingProvider();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await openInside(page, '/console/providers/add');
  await page.getByRole('radio', { name: 'OpenAI-compatible' }).click();
  await page.getByLabel('Name').fill('house');
  await page.getByLabel('Base URL').fill(`http://127.0.0.1:${provider.port}/v1`);
  const key = page.getByLabel('Key', { exact: true });
  await key.fill('sk-wrong');
  await button('Continue').click();
  // A key that is refused is not saved.
  await page.getByText('The provider refused this key.').waitFor();
  await button('Save anyway').waitFor();
  const before = await gateway.admin<{ data: { name: string }[] }>('GET', '/providers');
  expect(before.data.map(({ name }) => name)).toEqual(['sandbox']);
  await key.fill('sk-right');
  await button('Continue').click();
  const found = page.getByRole('region', { name: 'Models found' });
  await found.getByText('3 of 3 models').waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await button('Set a price of house-model').click();
  expect(await page.getByLabel('Name of the model at the provider').inputValue()).toBe('house-model');
  await page.getByLabel('Input, USD per million tokens').fill('1');
  await page.getByLabel('Output', { exact: true }).fill('2');
  await button('Enable model').click();
  await page.getByText('house-model is enabled.').waitFor();
  await button('Run test call').click();
  await page.getByText('← ready').waitFor();
  expect(await page.locator('.figures').textContent()).toContain('$0.000014');
  expect(await violationsOf(page)).toEqual([]);

  // Of a provider that is there already: those with a list price are enabled at once.
  const saved = { type: 'openai', baseUrl: `http://127.0.0.1:${provider.port}/v1`, credential: 'sk-right' };
  await gateway.admin('PUT', '/providers/listed', saved);
  await openInside(page, '/console/providers?open=listed');
  await page.getByRole('link', { name: 'Add models' }).click();
  await found.getByText('3 of 3 models').waitFor();
  await page.getByRole('checkbox', { name: 'Enable gpt-5-nano' }).check();
  await page.getByRole('checkbox', { name: 'Enable house-model' }).check();
  await button('Enable 2 models').click();
  await page.getByText('gpt-5-nano is enabled.').waitFor();
  const { data } = await gateway.admin<{ data: { name: string; targets: object[] }[] }>('GET', '/models?limit=1000');
  const targetsOf = (name: string) => data.find((model) => model.name === name)?.targets;
  expect(targetsOf('gpt-5-nano')).toMatchObject([{ provider: 'listed', model: 'gpt-5-nano' }]);
  expect(targetsOf('house-model')).toMatchObject([{ provider: 'house' }, { provider: 'listed', priority: 1 }]);
  await openInside(page, '/console/models?open=gpt-5-nano');
  const drawer = page.getByRole('complementary', { name: 'gpt-5-nano' });
  await drawer.getByLabel('output', { exact: true }).fill('7');
  await drawer.getByRole('button', { name: 'Save' }).click();
  await drawer.getByText('Saved').waitFor();
  const changed = await gateway.admin<{ data: { name: string; price: object }[] }>('GET', '/models?limit=1000');
  expect(changed.data.find(({ name }) => name === 'gpt-5-nano')?.price).toMatchObject({ input: '0.05', output: '7' });
  expect(complaints).toEqual([]);
}

/** A connection that is lost in the middle of a change, a key that nobody copied, a session that ends. */
export async function answersAreLost(gateway: GatewayProcess, { page, complaints }: Visit): Promise<void> {
  const form = page.getByRole('complementary');
  const press = (name: string) => form.getByRole('button', { name, exact: true }).click();
  await openInside(page, '/console/codes?open=new');
  await form.getByLabel('Amount').fill('3.25');
  const path = '**/admin/v1/codes';
  await page.route(path, async (route) => {
    await route.fetch();
    await route.abort();
  });
  await press('Create code');
  await form.getByText('it is not done twice').waitFor();
  await page.unroute(path);
  await press('Create code');
  await form.locator('.secret code').waitFor();
  const codes = await gateway.admin<{ data: { amount: string }[] }>('GET', '/codes?limit=100');
  expect(codes.data.filter(({ amount }) => amount === '3.25')).toHaveLength(1);

  await openInside(page, '/console/keys?open=new');
  await form.getByLabel('Name').fill('uncopied');
  await press('Create key');
  const dialog = page.getByRole('dialog');
  for (const isLeft of [false, true]) {
    await dialog.getByRole('link', { name: 'Open playground' }).click();
    if (!isLeft) await dialog.getByText('You have not copied the key').waitFor();
  }
  await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();

  await openInside(page, '/console/accounts?open=new');
  await form.getByLabel('Name').fill('outlived');
  const people = await gateway.admin<{ data: { id: string; role: string }[] }>('GET', '/people');
  const owner = people.data.find(({ role }) => role === 'owner')?.id;
  await gateway.admin('POST', `/people/${owner}/sign-out`);
  await press('Create account');
  await form.getByText('What you typed stays here').waitFor();
  const other = await page.context().newPage();
  const { path: link } = await gateway.admin<{ path: string }>('POST', '/login-link');
  await other.goto(gateway.url + link);
  await other.getByRole('button', { name: 'Later' }).click();
  await other.close();
  await press('Create account');
  await page.getByRole('complementary', { name: 'outlived' }).waitFor();
  expect(complaints.splice(0).filter((line) => !/net::ERR_FAILED|401/.test(line))).toEqual([]);
}

/** Rules and channels of alerts, and the player of a video. */
export async function operationsArePressed(gateway: GatewayProcess, visit: Visit, smtp: SmtpServer): Promise<void> {
  const { page, complaints } = visit;
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const isOn = async () => {
    const { data } = await gateway.admin<{ data: { rule: string; enabled: boolean }[] }>('GET', '/alerts/rules');
    return data.find(({ rule }) => rule === 'budget')?.enabled;
  };
  await openInside(page, '/console/alerts?tab=rules');
  await press('Disable budget');
  await page.getByRole('button', { name: 'Enable budget' }).waitFor();
  expect(await isOn()).toBe(false);
  await press('Enable budget');
  await page.getByRole('button', { name: 'Disable budget' }).waitFor();
  expect(await isOn()).toBe(true);

  const { account, key } = await gateway.newCaller();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const asked = { model: 'sandbox-video', prompt: 'a lighthouse', seconds: '4' };
  const body = JSON.stringify(asked);
  const made = await fetch(`${gateway.url}/v1/videos`, { method: 'POST', headers, body });
  const { id } = (await made.json()) as { id: string };
  const statusOf = async () =>
    ((await (await fetch(`${gateway.url}/v1/videos/${id}`, { headers })).json()) as { status: string }).status;
  while ((await statusOf()) !== 'completed') await Bun.sleep(20);
  const content = page.waitForResponse(`**/v1/videos/${id}/content`);
  await openInside(page, `/console/tasks?account=${account}&open=${id}`);
  expect((await content).status()).toBe(200);
  expect(await page.locator('.drawer video[controls]').getAttribute('src')).toStartWith('blob:');

  await openInside(page, '/console/alerts?tab=channels');
  const before = smtp.mails.length;
  await press('Send a test to mail');
  await page.getByText('The test was sent.').waitFor();
  expect(smtp.mails.slice(before).some(({ to }) => String(to).includes('ops@example.test'))).toBe(true);
  await press('Remove mail');
  const dialog = page.getByRole('dialog');
  const remove = dialog.getByRole('button', { name: 'Remove', exact: true });
  expect(await remove.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill(' mail ');
  await remove.click();
  await page.getByText('No channels yet').waitFor();
  expect(complaints).toEqual([]);
}
