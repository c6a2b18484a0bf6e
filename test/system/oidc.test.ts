/** Signing in by OpenID Connect, against a real provider in a process of its own. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { OidcSettings } from '../../src/people/oidc-claims.ts';
import { installPackages } from '../clients/install.ts';
import { ENGINES } from '../helpers/engines.ts';
import { freePort } from '../helpers/free-port.ts';
import { type Loopback, startLoopback } from '../helpers/loopback.ts';
import { type CookieBrowser, newBrowser } from '../oidc/browser.ts';

const FOLDER = join(import.meta.dirname, '..', 'oidc');
const CALLBACK = '/console/api/sign-in/oidc/callback';

type People = { [name: string]: { email?: string; email_verified?: boolean; name?: string; groups?: string[] } };

let issuer: string;

/** Resolves when it listens. */
async function startProvider(redirectUri: string, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(FOLDER, 'provider.mjs'), `${port}`, redirectUri], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the provider ended with ${code}`)));
  });
  return child;
}

const setPeople = (people: People) => fetch(`${issuer}/test/people`, { method: 'POST', body: JSON.stringify(people) });

beforeAll(() => installPackages(FOLDER), 300_000);

describe.each(ENGINES)('on $name', (engine) => {
  let edge: Loopback;
  let provider: ChildProcess;
  let settings: OidcSettings;
  /** The clock of the people: discovery is tried again after a failure. */
  let now = Date.now();

  beforeAll(async () => {
    const port = await freePort();
    issuer = `http://127.0.0.1:${port}`;
    settings = {
      ...{ issuer, clientId: 'modelport', clientSecret: 'client-secret', clientAuth: 'basic', name: 'Test SSO' },
      ...{ scope: 'openid email profile groups', roleClaim: 'groups', domains: [], createsPeople: true },
      redirectUri: '',
      roles: [
        { value: 'admins', role: 'owner' },
        { value: 'ops', role: 'operator' },
        { value: 'staff', role: 'member' },
      ],
    };
    const database = await engine.freshDatabase();
    edge = await startLoopback(database.settings, { oidc: settings, peopleNow: () => now });
    settings.redirectUri = edge.address + CALLBACK;
    // If the provider is down the page shows it; other ways of signing in stay.
    const browser = newBrowser();
    expect(await begin(browser)).toBe(`${edge.address}/console/#error=provider_unavailable`);
    expect((await browser.ask(`${edge.address}/console/api/session`)).text).toContain('"oidc":{"name":"Test SSO"}');
    provider = await startProvider(settings.redirectUri, port);
    expect(await begin(browser)).toBe(`${edge.address}/console/#error=provider_unavailable`);
    now += 3001;
    expect(await begin(browser)).toStartWith(`${issuer}/auth?`);
    expect(edge.troubles).toEqual(['Signing in by OIDC failed.']);
    await edge.admin('POST', '/login-link');
  }, 120_000);
  afterAll(async () => {
    provider?.kill('SIGKILL');
    await edge?.stop();
  });
  beforeEach(async () => {
    settings.domains = [];
    settings.createsPeople = true;
    delete settings.defaultRole;
    await setPeople({});
  });

  const begin = async (browser: CookieBrowser) =>
    (await browser.ask(`${edge.address}/console/api/sign-in/oidc`)).location;
  /** The address of the callback, which the browser has not followed yet. */
  const approve = async (browser: CookieBrowser, name: string) => browser.atProvider(await begin(browser), name);
  const end = async (browser: CookieBrowser, callback: string) =>
    (await browser.ask(callback)).location.replace(edge.address, '');
  const signIn = async (browser: CookieBrowser, name: string) => end(browser, await approve(browser, name));
  const session = async (browser: CookieBrowser) =>
    JSON.parse((await browser.ask(`${edge.address}/console/api/session`)).text);
  const failed = (error: string) => `/console/#error=${error}`;
  const personOf = async (browser: CookieBrowser) => (await session(browser)).person;

  test('a newcomer is created with the role of the groups, and comes back as the same person', async () => {
    await setPeople({ ann: { email: 'Ann@Example.test', email_verified: true, name: 'Ann', groups: ['x', 'ops'] } });
    const browser = newBrowser();
    browser.setCookie(edge.address, 'modelport_session', 'planted');
    expect(await signIn(browser, 'ann')).toBe('/console/');
    expect(browser.cookies(edge.address)).not.toContain('planted');
    // The attempt is over, and its cookie with it.
    expect(browser.cookies(edge.address)).not.toContain('modelport_oidc');
    const first = await session(browser);
    expect(first.person).toMatchObject({ email: 'ann@example.test', name: 'Ann', role: 'operator', needsSetup: false });
    expect(first.session.way).toBe('oidc');
    const other = newBrowser();
    expect(await signIn(other, 'ann')).toBe('/console/');
    expect((await personOf(other)).id).toBe(first.person.id);
    // A second sign-in in the same browser ends the first session.
    const before = browser.cookies(edge.address);
    expect(await signIn(browser, 'ann')).toBe('/console/');
    const old = newBrowser();
    old.setCookie(edge.address, 'modelport_session', /modelport_session=([^;]+)/.exec(before)?.[1] ?? '');
    expect(await personOf(old)).toBeNull();
    const { data } = (await edge.admin('GET', `/audit?subject=${first.person.id}`)).body;
    expect(data.map(({ actor, action }: { actor: string; action: string }) => [actor, action]).at(-1)).toEqual([
      'oidc',
      'person.created',
    ]);
  }, 60_000);

  test('a deep link leads to its page, and no other address does', async () => {
    await setPeople({ dee: { name: 'Dee', groups: ['staff'] } });
    const ends = async (to: string) => {
      const browser = newBrowser();
      const start = await browser.ask(`${edge.address}/console/api/sign-in/oidc?to=${encodeURIComponent(to)}`);
      return end(browser, await browser.atProvider(start.location, 'dee'));
    };
    expect(await ends('/console/calls?period=7d&call=req_1')).toBe('/console/calls?period=7d&call=req_1');
    const others = ['//evil.test/console/', 'https://evil.test/console/', '/admin/v1/keys', '/console/api/sign-out'];
    for (const to of [...others, '/console/#link=token', '/console/\r\nset-cookie: a=b', '/consolex'])
      expect([to, await ends(to)]).toEqual([to, '/console/']);
  }, 60_000);

  test('two first sign-ins at the same time make one person', async () => {
    await setPeople({ twin: { name: 'Twin', groups: ['staff'] } });
    const browsers = [newBrowser(), newBrowser()];
    const callbacks = await Promise.all(browsers.map((browser) => approve(browser, 'twin')));
    const ends = await Promise.all(browsers.map((browser, index) => end(browser, callbacks[index] ?? '')));
    expect(ends).toEqual(['/console/', '/console/']);
    const people = await Promise.all(browsers.map(personOf));
    expect(new Set(people.map(({ id }) => id)).size).toBe(1);
  }, 60_000);

  test('the role follows the claims, and without one sign-in is refused and open sessions end', async () => {
    await setPeople({ bob: { groups: ['ops'] } });
    const browser = newBrowser();
    expect(await signIn(browser, 'bob')).toBe('/console/');
    await setPeople({ bob: { groups: ['staff'] } });
    const other = newBrowser();
    expect(await signIn(other, 'bob')).toBe('/console/');
    expect((await personOf(browser)).role).toBe('member');
    await setPeople({ bob: {} });
    expect(await signIn(newBrowser(), 'bob')).toBe(failed('not_allowed'));
    expect([await personOf(browser), await personOf(other)]).toEqual([null, null]);
    settings.defaultRole = 'support';
    expect(await signIn(browser, 'bob')).toBe('/console/');
    expect((await personOf(browser)).role).toBe('support');
  }, 60_000);

  test('the last owner keeps the role and is refused', async () => {
    await setPeople({ olga: { groups: ['admins'] } });
    const browser = newBrowser();
    expect(await signIn(browser, 'olga')).toBe('/console/');
    const { id } = await personOf(browser);
    const { data: people } = (await edge.admin('GET', '/people?limit=100')).body;
    for (const one of people)
      if (one.role === 'owner' && one.id !== id) await edge.admin('POST', `/people/${one.id}/disable`);
    await setPeople({ olga: { groups: ['staff'] } });
    expect(await signIn(newBrowser(), 'olga')).toBe(failed('last_owner'));
    expect((await edge.admin('GET', `/people/${id}`)).body.role).toBe('owner');
    for (const one of people) if (one.role === 'owner') await edge.admin('POST', `/people/${one.id}/enable`);
    expect(await signIn(browser, 'olga')).toBe('/console/');
    expect((await personOf(browser)).role).toBe('member');
  }, 60_000);

  test('an unverified address belongs to no person, and never links an existing person', async () => {
    const owner = { name: 'The owner', role: 'owner', email: 'owner@example.test' };
    const { body: made } = await edge.admin('POST', '/people', owner);
    await setPeople({ eve: { email: 'owner@example.test', email_verified: false, groups: ['staff'] } });
    const browser = newBrowser();
    expect(await signIn(browser, 'eve')).toBe('/console/');
    expect(await personOf(browser)).toMatchObject({ email: null, role: 'member' });
    expect((await personOf(browser)).id).not.toBe(made.id);
    // A member writes the address of somebody else into the own profile, and waits for that one to come.
    const profile = await edge.ask('PATCH', '/console/api/profile', {
      key: null,
      headers: { cookie: browser.cookies(edge.address), 'sec-fetch-site': 'same-origin' },
      body: { email: 'victim@example.test' },
    });
    expect(profile.status).toBe(200);
    await setPeople({ victim: { email: 'victim@example.test', email_verified: true, groups: ['admins'] } });
    expect(await signIn(newBrowser(), 'victim')).toBe(failed('email_taken'));
    expect((await personOf(browser)).role).toBe('member');
  }, 60_000);

  test('who was invited with the verified address becomes that person; others only where people are created', async () => {
    settings.createsPeople = false;
    const invited = { name: 'Invited', role: 'support', email: 'invited@example.test' };
    const { body: made } = await edge.admin('POST', '/people', invited);
    const verified = { email_verified: true, groups: ['ops'] };
    await setPeople({
      invited: { email: 'invited@example.test', ...verified },
      other: { email: 'other@example.test', ...verified },
    });
    const browser = newBrowser();
    expect(await signIn(browser, 'invited')).toBe('/console/');
    expect(await personOf(browser)).toMatchObject({ id: made.id, role: 'operator' });
    expect(await signIn(newBrowser(), 'other')).toBe(failed('not_allowed'));
    settings.createsPeople = true;
    settings.domains = ['corp.test'];
    expect(await signIn(newBrowser(), 'other')).toBe(failed('not_allowed'));
    expect(await signIn(browser, 'invited')).toBe(failed('not_allowed'));
    await setPeople({ other: { email: 'other@corp.test', email_verified: false, groups: ['ops'] } });
    expect(await signIn(newBrowser(), 'other')).toBe(failed('not_allowed'));
    await setPeople({ other: { email: 'other@CORP.test', ...verified } });
    expect(await signIn(newBrowser(), 'other')).toBe('/console/');
  }, 60_000);

  test('a disabled person stays out', async () => {
    await setPeople({ dora: { groups: ['ops'] } });
    const browser = newBrowser();
    expect(await signIn(browser, 'dora')).toBe('/console/');
    const { id } = await personOf(browser);
    await edge.admin('POST', `/people/${id}/disable`);
    expect(await signIn(browser, 'dora')).toBe(failed('not_allowed'));
    expect(await personOf(browser)).toBeNull();
    const { data } = (await edge.admin('GET', `/audit?subject=${id}&action=person.sign-in-failed`)).body;
    expect(data[0].after).toMatchObject({ way: 'oidc', reason: 'not_allowed' });
  }, 60_000);

  describe('an attacker', () => {
    const NO_ENTRY = failed('sign_in_failed');
    const changed = (callback: string, name: string, value: string) => {
      const url = new URL(callback);
      url.searchParams.set(name, value);
      return url.href;
    };
    beforeEach(() => setPeople({ mallory: { groups: ['ops'] }, ann: { groups: ['ops'] } }));

    test('does not get in with another state, another issuer or no answer of the provider', async () => {
      const browser = newBrowser();
      const callback = await approve(browser, 'mallory');
      expect(await end(browser, changed(callback, 'state', 'x'.repeat(43)))).toBe(NO_ENTRY);
      const twice = `${callback}&state=${new URL(callback).searchParams.get('state')}`;
      expect(await end(browser, twice)).toBe(NO_ENTRY);
      expect(new URL(callback).searchParams.get('iss')).toBe(issuer);
      const fresh = newBrowser();
      expect(await end(fresh, changed(await approve(fresh, 'mallory'), 'iss', 'https://login.other.test'))).toBe(
        NO_ENTRY,
      );
      const without = new URL(await approve(fresh, 'mallory'));
      without.searchParams.delete('iss');
      expect(await end(fresh, without.href)).toBe(NO_ENTRY);
      const denied = new URL(await approve(fresh, 'mallory'));
      denied.searchParams.delete('code');
      denied.searchParams.set('error', 'access_denied');
      expect(await end(fresh, denied.href)).toBe(NO_ENTRY);
      expect(await end(fresh, edge.address + CALLBACK)).toBe(NO_ENTRY);
      for (const one of [browser, fresh]) expect(await personOf(one)).toBeNull();
    }, 60_000);

    test('does not get in with a nonce or a verifier of another sign-in', async () => {
      for (const place of [1, 2]) {
        const browser = newBrowser();
        const callback = await approve(browser, 'mallory');
        const parts = (/modelport_oidc=([^;]+)/.exec(browser.cookies(edge.address))?.[1] ?? '').split('.');
        expect(parts).toHaveLength(3);
        parts[place] = 'A'.repeat(43);
        browser.setCookie(edge.address, 'modelport_oidc', parts.join('.'));
        expect(await end(browser, callback)).toBe(NO_ENTRY);
        expect(await personOf(browser)).toBeNull();
      }
    }, 60_000);

    test('does not use a code twice, nor let another browser finish a sign-in', async () => {
      const own = newBrowser();
      const callback = await approve(own, 'mallory');
      const kept = /modelport_oidc=([^;]+)/.exec(own.cookies(edge.address))?.[1] ?? '';
      // The victim follows a link to the attacker's callback: its browser has begun nothing, or something else.
      const victim = newBrowser();
      expect(await end(victim, callback)).toBe(NO_ENTRY);
      await begin(victim);
      expect(await end(victim, callback)).toBe(NO_ENTRY);
      expect(await personOf(victim)).toBeNull();
      expect(await end(own, callback)).toBe('/console/');
      const again = newBrowser();
      again.setCookie(edge.address, 'modelport_oidc', kept);
      expect(await end(again, callback)).toBe(NO_ENTRY);
      expect(await personOf(again)).toBeNull();
    }, 60_000);

    test('starts no sign-in from a page of another origin', async () => {
      const headers = { 'sec-fetch-site': 'cross-site' };
      const started = await fetch(`${edge.address}/console/api/sign-in/oidc`, { headers, redirect: 'manual' });
      expect([started.status, started.headers.get('location'), started.headers.get('set-cookie')]).toEqual([
        303,
        '/console/',
        null,
      ]);
    });
  });
});
