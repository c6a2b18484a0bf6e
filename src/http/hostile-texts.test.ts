import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ENGINES } from '../../test/helpers/engines.ts';
import { CATALOGUE, type Loopback, startLoopback } from '../../test/helpers/loopback.ts';
import { OWN_ORIGIN as OWN } from '../../test/helpers/routes-of-people.ts';
import { newId } from '../canonical/id.ts';
import { OPERATIONS, shownPath } from './openapi/describe.ts';
import type { AnsweredRoute } from './route.ts';
import { ANSWERED_ROUTES, CONSOLE_ROUTES } from './routes.ts';

/** NUL, which Postgres cannot store; half of a pair, which JSON columns refuse; everything else that is valid. */
const TEXTS = ['a\0b', 'a\ud800b', `👩‍👩‍👧\u202eשלום${'x'.repeat(5000)}`];
const PASSWORD = 'correct horse battery';
const RESPONSE = { id: 'AAAA', rawId: 'AAAA', type: 'public-key', response: { clientDataJSON: 'AAAA' } };

/** Of the console's routes, which have no examples. */
const BODIES: { readonly [route: string]: object } = {
  'POST /console/api/sign-in': { email: 'ann@example.test', password: PASSWORD, code: '123456' },
  'POST /console/api/sign-in/link': { token: 'x' },
  'POST /console/api/sign-in/passkey': { ceremony: 'x', response: RESPONSE },
  'POST /console/api/register': { email: 'new@example.test' },
  'POST /console/api/register/confirm': { token: 'x', name: 'Ann', password: PASSWORD },
  'PATCH /console/api/profile': { name: 'Ann', email: 'ann2@example.test' },
  'PUT /console/api/password': { password: PASSWORD, current: PASSWORD },
  'POST /console/api/account/keys': {
    name: 'mine',
    models: ['alpha'],
    aliases: { gpt: 'alpha' },
    addresses: ['10.0.0.1'],
  },
  'PATCH /console/api/account/keys/{id}': { name: 'mine', models: ['alpha'], aliases: { gpt: 'alpha' } },
  'POST /console/api/account/redeem': { code: 'credit-1' },
  'POST /console/api/playground': { account: 'x' },
  'PATCH /console/api/passkeys/{id}': { name: 'Desk' },
  'POST /admin/v1/keys': { account: 'default', name: 'laptop', models: ['alpha'], aliases: { gpt: 'alpha' } },
  'PATCH /admin/v1/keys/{id}': {
    name: 'laptop',
    models: ['alpha'],
    aliases: { gpt: 'alpha' },
    addresses: ['10.0.0.1'],
  },
  'PATCH /admin/v1/accounts/{id}': { name: 'default', webhookUrl: 'https://hooks.invalid/a', priceGroup: 'resellers' },
  'PATCH /admin/v1/people/{id}': { name: 'Ann', email: 'ann3@example.test', accounts: ['default'] },
  'POST /admin/v1/routing/explain': {
    ...{ key: 'x', format: 'openai-chat', headers: { 'x-title': 'a' }, path: { model: 'alpha' } },
    request: { model: 'alpha', user: 'a', messages: [{ role: 'user', content: 'Hello!' }] },
  },
};

type Json = unknown;

/** The body once for each text in it, with that text replaced; names of members count as texts where they are not the schema's. */
function* variants(value: Json, text: string): Generator<Json> {
  if (typeof value === 'string') yield text;
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) for (const one of variants(item, text)) yield value.with(at, one);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      for (const one of variants(member, text)) yield { ...value, [name]: one };
    }
    const [name, member] = Object.entries(value)[0] ?? [];
    if (name !== undefined) yield { ...value, [text]: member };
  }
}

/** The members that the schema knows as texts and the example leaves out. */
function optionalTexts({ body }: AnsweredRoute, given: object): string[] {
  const members = (body as { properties?: { [name: string]: { type?: string } } } | undefined)?.properties ?? {};
  return Object.keys(members).filter((name) => members[name]?.type === 'string' && !(name in given));
}

describe.each(ENGINES)('hostile texts over $name', (engine) => {
  let edge: Loopback;
  let ids: { [kind: string]: string };
  beforeAll(async () => {
    edge = await startLoopback((await engine.freshDatabase()).settings);
    await edge.deps.apply(CATALOGUE, 'test');
    await edge.deps.catalog.reload();
    const { store } = edge;
    const owner = { id: newId('person_'), name: 'Ann', role: 'owner', accounts: [edge.account], createdAt: Date.now() };
    const other = { ...owner, id: newId('person_'), name: 'Bob', role: 'member' };
    for (const person of [owner, other]) await store.people.createPerson(person);
    const channel = { type: 'webhook', name: 'pager', url: 'https://pager.invalid/alerts' };
    const { body: key } = await edge.admin('POST', '/keys', { account: edge.account, name: 'own' });
    const { body: made } = await edge.admin('POST', '/alerts/channels', channel);
    ids = { owner: owner.id, person: other.id, key: key.id, channel: made.id, account: edge.account };
  }, 60_000);
  afterAll(() => edge.stop());

  const idOf = (path: string): string => {
    if (path.includes('/people/')) return ids.person ?? '';
    if (path.includes('/keys/')) return ids.key ?? '';
    if (path.includes('/channels/')) return ids.channel ?? '';
    return path.includes('/accounts/') ? (ids.account ?? '') : 'alpha';
  };

  /** Of an owner: a new one for each route, because some end it. */
  async function headersOf({ gate }: AnsweredRoute): Promise<{ [name: string]: string }> {
    if (gate === 'admin') return { authorization: `Bearer ${edge.adminKey}` };
    if (gate === 'open' || gate === 'page') return OWN;
    const { secret } = await edge.deps.people!.sessions.begin({ id: ids.owner! }, 'link', { address: 'a', agent: 'b' });
    return { ...OWN, cookie: `modelport_session=${secret}` };
  }

  /** Whatever a text is: the request is carried out or refused, it does not fail. */
  async function failures(row: AnsweredRoute): Promise<string[]> {
    const found: string[] = [];
    const headers = await headersOf(row);
    const name = `${row.method} ${shownPath(row)}`;
    const path = (text?: string) =>
      row.path.replace(
        /:\w+(\{[^}]*\})?/g,
        text === undefined ? idOf(row.path) : encodeURIComponent(text.toWellFormed()),
      );
    const send = async (to: string, what: string, body?: Json) => {
      const given = row.method === 'GET' || row.method === 'DELETE' ? undefined : JSON.stringify(body ?? {});
      const answer = await edge.ask(row.method, to, {
        key: null,
        headers,
        ...(given !== undefined && { body: given }),
      });
      if (answer.status >= 500) found.push(`${name} ${what}: ${answer.status} ${(await answer.text()).slice(0, 100)}`);
      else await answer.body?.cancel();
    };
    const example = BODIES[name] ?? (OPERATIONS[name]?.request as object | undefined) ?? {};
    for (const text of TEXTS) {
      const shown = JSON.stringify(text.slice(0, 5));
      if (row.path.includes(':')) await send(path(text), `path ${shown}`, example);
      for (const parameter of Object.keys(row.query.properties)) {
        if (text.length > 4000) continue;
        const query = new URLSearchParams({ [parameter]: text });
        await send(`${path()}?${query}`, `query ${parameter} ${shown}`, example);
      }
      for (const body of variants(example, text))
        await send(path(), `body ${JSON.stringify(body).slice(0, 200)}`, body);
      for (const member of optionalTexts(row, example))
        await send(path(), `body ${member} ${shown}`, { ...example, [member]: text });
    }
    return found;
  }

  test('NUL is named, and removed from notes', async () => {
    const refused = async (path: string, body: object) => {
      const answer = await edge.ask('POST', path, { key: null, headers: OWN, body });
      return { status: answer.status, body: await answer.json() };
    };
    const param = (name: string) => ({ status: 400, body: { error: { code: 'invalid_request', param: name } } });
    const ann = { email: 'ann\0@example.test', password: PASSWORD };
    expect(await refused('/console/api/sign-in', ann)).toMatchObject(param('email'));
    expect(await edge.admin('GET', '/audit?actor=a%00b')).toMatchObject(param('actor'));
    const aliases = { 'a\0b': 'alpha' };
    expect(await edge.admin('POST', '/keys', { account: 'default', name: 'x', aliases })).toMatchObject(
      param('aliases'),
    );
    expect(await edge.admin('GET', '/accounts/a%00b')).toMatchObject({ status: 404 });
    const { body } = await edge.admin('POST', '/accounts/default/top-ups', { amount: '1', note: 'a\0b' });
    expect(body.note).toBe('ab');
  });

  test('no text in any route of the admin API and the console is a failure', async () => {
    const rows = [...ANSWERED_ROUTES, ...CONSOLE_ROUTES].filter(
      ({ gate, path }) => gate === 'admin' || gate === 'session' || path.startsWith('/console/api'),
    );
    const skipped = ['/admin/v1/calls/stream', '/console/api/sign-out', '/console/api/sessions'];
    const found: string[] = [];
    for (const row of rows.filter(({ path }) => !skipped.includes(path))) found.push(...(await failures(row)));
    expect(found).toEqual([]);
    expect(edge.troubles).toEqual([]);
  }, 120_000);
});
