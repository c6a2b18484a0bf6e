import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { ENGINES } from '../../test/helpers/engines.ts';
import { type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { type SmtpServer, startSmtpServer } from '../../test/helpers/smtp-server.ts';
import type { RegistrationSettings } from '../people/registration.ts';

const PASSWORD = 'correct horse battery';
const HOUR = 3_600_000;
/** Of the limits: a test begins in an hour of its own. */
let now = Date.UTC(2030, 0, 1);

let smtp: SmtpServer;
beforeAll(async () => {
  smtp = await startSmtpServer();
});
afterAll(() => smtp.stop());

describe.each(ENGINES)('registration on $name', (engine) => {
  let edge: Loopback;
  let settings: RegistrationSettings;
  let channel: string;

  beforeAll(async () => {
    settings = {
      ...{ credit: 1_500_000_000n, daily: { people: 50, credit: 20_000_000_000n }, domains: [] },
      publicUrl: 'https://models.example.test',
    };
    const database = await engine.freshDatabase();
    edge = await startLoopback(database.settings, { registration: settings, peopleNow: () => now });
    expect((await ask('/console/api/register', { email: 'ann@example.test' })).status).toBe(404);
    expect(await ways()).toMatchObject({ registration: false, registrationCredit: null });
    const mail = { name: 'mail', type: 'email', server: `smtp://127.0.0.1:${smtp.port}`, from: 'gateway@example.test' };
    channel = (await edge.admin('POST', '/alerts/channels', { ...mail, to: ['ops@example.test'] })).body.id;
    expect(await ways()).toMatchObject({ registration: true, registrationCredit: '1.5' });
  });
  afterAll(() => edge.stop());
  beforeEach(() => {
    now += 24 * HOUR;
    smtp.mails.length = 0;
    settings.domains = [];
  });

  const ask = (path: string, body: object, headers = {}) => edge.page('POST', path, '', body, headers);
  const read = async (path: string, cookie: string) => (await edge.page('GET', path, cookie)).body;
  const session = (cookie: string) => read('/console/api/session', cookie);
  const ways = async () => (await session('')).ways;
  const register = (email: string, more = {}) => ask('/console/api/register', { email, ...more });
  const confirm = (token: string, more = {}) =>
    ask('/console/api/register/confirm', { token, name: 'Ann', password: PASSWORD, ...more });

  /** The mail to this address, when it has arrived. */
  async function mailTo(address: string, place = 0): Promise<string> {
    for (;;) {
      const found = smtp.mails.filter(({ to }) => to.includes(address))[place];
      if (found) return found.data.replace(/=\r\n/g, '').replaceAll('=3D', '=');
      await Bun.sleep(5);
    }
  }
  async function tokenTo(address: string, place = 0): Promise<string> {
    const data = await mailTo(address, place);
    return /https:\/\/models\.example\.test\/console\/#register=([\w-]{43})/.exec(data)?.[1] ?? '';
  }

  test('a link by mail makes a member with an account and credit, once', async () => {
    expect(await register(' Ann@Example.test')).toMatchObject({ status: 200, body: { sent: true } });
    const token = await tokenTo('ann@example.test');
    const short = await confirm(token, { password: 'short' });
    expect(short).toMatchObject({ status: 400, body: { error: { param: 'password' } } });
    const done = await confirm(token);
    expect(done).toMatchObject({ status: 200, body: { signedIn: true } });
    const { person, session: begun, account, ways: shown } = await session(done.cookie);
    expect(person).toMatchObject({ email: 'ann@example.test', name: 'Ann', role: 'member', needsSetup: false });
    expect(begun.way).toBe('registration');
    expect(shown.registration).toBe(false);
    const own = await read('/console/api/account/entries', done.cookie);
    expect(own.data).toMatchObject([{ kind: 'top-up', amount: '1.5', note: 'starting credit of a registration' }]);
    expect((await confirm(token)).status).toBe(401);
    expect((await ask('/console/api/sign-in', { email: 'ann@example.test', password: PASSWORD })).status).toBe(200);
    const { data } = (await edge.admin('GET', '/audit?actor=registration')).body;
    expect(data.map(({ action }: { action: string }) => action).toSorted()).toEqual([
      'account.created',
      'account.topped-up',
      'person.created',
    ]);
    expect(JSON.stringify(data)).not.toContain('argon2');
    expect((await edge.store.account(account.id))?.balance).toBe(settings.credit);
    expect(await edge.store.verify()).toMatchObject({ faults: [] });
  });

  test('a known address gets the same answer, and another mail', async () => {
    const known = await edge.admin('POST', '/people', { name: 'Kim', role: 'support', email: 'kim@example.test' });
    expect(known.status).toBe(200);
    const answers = [await register('kim@example.test'), await register('new@example.test')];
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, { sent: true }],
      [200, { sent: true }],
    ]);
    expect(await mailTo('kim@example.test')).not.toContain('#register=');
    expect(await mailTo('new@example.test')).toContain('#register=');
    expect((await edge.admin('GET', '/people?limit=100')).body.data.map((one: { name: string }) => one.name)).toContain(
      'Kim',
    );
  });

  test('two links of one address make one person and one credit', async () => {
    await register('twin@example.test');
    await register('twin+again@example.test');
    await register('twin@example.test', { language: 'zh' });
    const tokens = [await tokenTo('twin@example.test'), await tokenTo('twin@example.test', 1)];
    const other = await tokenTo('twin+again@example.test');
    const ends = await Promise.all([...tokens, other].map((token) => confirm(token)));
    expect(ends.map(({ status }) => status).toSorted()).toEqual([200, 200, 401]);
    const people = await edge.store.people.people({ limit: 100 });
    const twins = people.filter(({ email }) => email?.startsWith('twin'));
    const balances = await Promise.all(
      twins.map(async ({ accounts }) => (await edge.store.account(accounts[0] ?? ''))?.balance),
    );
    expect(balances.toSorted()).toEqual([0n, 1_500_000_000n]);
    expect(await edge.store.verify()).toMatchObject({ faults: [] });
  });

  test('mails to one mailbox and from one client are few in an hour', async () => {
    const codes: number[] = [];
    for (let i = 0; i < 5; i++) codes.push((await register(`few+${i}@example.test`)).status);
    expect(codes).toEqual([200, 200, 200, 429, 429]);
    for (let i = 0; i < 15; i++) expect((await register(`many${i}@example.test`)).status).toBe(200);
    expect((await register('one.more@example.test')).status).toBe(429);
    now += HOUR;
    expect((await register('few@example.test')).status).toBe(200);
    await tokenTo('few@example.test');
  });

  test('the credit of a day is bounded, and the link works on the next day', async () => {
    settings.daily = { people: 50, credit: 3_000_000_000n };
    for (const name of ['a', 'b', 'c']) await register(`day-${name}@example.test`);
    const tokens = await Promise.all(['a', 'b', 'c'].map((name) => tokenTo(`day-${name}@example.test`)));
    const ends = await Promise.all(tokens.map((token) => confirm(token)));
    expect(ends.map(({ status }) => status).toSorted()).toEqual([200, 200, 429]);
    const left = tokens[ends.findIndex(({ status }) => status === 429)] ?? '';
    const answers: string[] = [];
    for (let i = 0; i < 5; i++) answers.push((await confirm(left)).body.error.message);
    // A link that stays valid does not keep the hashing of passwords busy.
    const [exhausted, tooMany] = [expect.stringContaining('today'), expect.stringContaining('too many')];
    expect(answers).toEqual([exhausted, exhausted, exhausted, exhausted, tooMany]);
    now += 24 * HOUR;
    expect((await confirm(left)).status).toBe(200);
  });

  test('strange addresses, other domains, other origins and wrong or late links are refused', async () => {
    for (const email of ['<ann@example.test>', 'a@b@example.test', 'ann@example.test\r\nbcc: x@example.test', 'ann'])
      expect(await register(email)).toMatchObject({ status: 400, body: { error: { param: 'email' } } });
    settings.domains = ['corp.test'];
    expect((await register('ann@example.test')).body.error.message).toContain('corp.test');
    expect((await register('late@corp.test')).status).toBe(200);
    const token = await tokenTo('late@corp.test');
    for (const path of ['/console/api/register', '/console/api/register/confirm']) {
      const crossing = { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };
      const body = path.endsWith('confirm') ? { token, name: 'Ann', password: PASSWORD } : { email: 'x@corp.test' };
      expect((await ask(path, body, crossing)).status).toBe(403);
    }
    expect((await confirm('x'.repeat(43))).status).toBe(401);
    settings.domains = ['other.test'];
    expect((await confirm(token)).status).toBe(401);
    now += 48 * HOUR;
    expect((await confirm(token)).status).toBe(401);
    expect(smtp.mails.map(({ to }) => to)).toEqual([['late@corp.test']]);
    await edge.admin('PATCH', `/alerts/channels/${channel}`, { enabled: false });
    expect((await register('ann@corp.test')).status).toBe(404);
    await edge.admin('PATCH', `/alerts/channels/${channel}`, { enabled: true });
  });

  test('a mail that is refused is reported, and does not change the response to the client', async () => {
    smtp.refuseNext('550 unknown mailbox');
    expect((await register('gone@example.test')).status).toBe(200);
    while (edge.troubles.length === 0) await Bun.sleep(5);
    expect(edge.troubles).toEqual(['The mail of a registration was not sent.']);
  });
});
