/** Admin API: people who sign in to the console, their roles, and links that sign them in. */
import { type Static, Type } from 'typebox';
import { ROLES } from '../../../access/permissions.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { newTimedId } from '../../../canonical/id.ts';
import type { People } from '../../../people/people.ts';
import type { PersonChange, PersonRow } from '../../../store/people.ts';
import { named } from '../../fields/named.ts';
import { listOf, PAGE, pageOf } from '../../fields/page.ts';
import { Time, writeTime } from '../../fields/time.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { accountNamed } from './account-named.ts';
import { audited } from './audit-routes.ts';

const RoleInput = Type.Union(
  ROLES.map((role) => Type.Literal(role)),
  { description: `one of ${ROLES.join(', ')}` },
);
export const NameInput = Type.String({ minLength: 1, maxLength: 200, description: 'a name of 1 to 200 characters' });

const Person = named('Person', {
  id: Type.String(),
  name: Type.String(),
  email: Type.Optional(Type.String()),
  role: Type.String(),
  accounts: Type.Array(Type.String(), { description: "ids of the person's own accounts" }),
  createdAt: Time,
  seenAt: Type.Optional(Time),
  disabledAt: Type.Optional(Time),
  hasPassword: Type.Boolean(),
  hasTotp: Type.Boolean(),
  passkeys: Type.Integer(),
  oidc: Type.Boolean({ description: 'whether an OIDC provider knows the person' }),
});

const Accounts = Type.Array(Type.String(), {
  maxItems: 100,
  description: 'a list of up to 100 ids or names of accounts',
});
export const EmailInput = Type.String({
  maxLength: 254,
  pattern: '^[^\\s@]+@[^\\s@]+$',
  description: 'an e-mail address',
});
const NewPerson = Type.Object(
  { name: NameInput, role: RoleInput, email: Type.Optional(EmailInput), accounts: Type.Optional(Accounts) },
  { additionalProperties: false },
);

const ChangedPerson = Type.Object(
  {
    name: Type.Optional(NameInput),
    role: Type.Optional(RoleInput),
    accounts: Type.Optional(Accounts),
  },
  { additionalProperties: false },
);

const Link = named('LoginLink', {
  path: Type.String({ description: 'append it to the address of the server and open it in a browser' }),
  expiresAt: Time,
});

export const PEOPLE_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/people', {
    gate: 'admin',
    permission: 'people:read',
    summary: 'Lists the people who may sign in to the console.',
    query: Type.Object(PAGE),
    reply: listOf(Person),
    answer: (deps, { query }) =>
      pageOf(
        query,
        (page) => deps.store.people.people(page),
        ({ id }) => id,
        (person) => writePerson(deps, person),
      ),
  }),
  route('POST', '/admin/v1/people', {
    gate: 'admin',
    permission: 'people:write',
    summary: 'Adds a person, and makes the link by which the person signs in for the first time, within seven days.',
    body: NewPerson,
    reply: Type.Object({ ...Person.properties, link: Link }),
    answer: createPerson,
  }),
  route('GET', '/admin/v1/people/:id', {
    gate: 'admin',
    permission: 'people:read',
    summary: 'Shows a person.',
    reply: Person,
    answer: async (deps, { path }) => writePerson(deps, await personNamed(deps, path.id)),
  }),
  route('PATCH', '/admin/v1/people/:id', {
    gate: 'admin',
    permission: 'people:write',
    summary: 'Changes name, role or accounts of a person. Absent members stay. The last owner stays an owner.',
    body: ChangedPerson,
    reply: Person,
    answer: async (deps, request) => changePerson(deps, request, 'person.changed', await changeOf(deps, request.body)),
  }),
  route('POST', '/admin/v1/people/:id/disable', {
    gate: 'admin',
    permission: 'people:write',
    summary: 'Disables a person: all sessions end, and nobody can sign in as that person.',
    reply: Person,
    answer: async (deps, request) => {
      const done = await changePerson(deps, request, 'person.disabled', { disabledAt: deps.now() });
      await deps.store.people.endSessions(request.path.id ?? '');
      return done;
    },
  }),
  route('POST', '/admin/v1/people/:id/enable', {
    gate: 'admin',
    permission: 'people:write',
    summary: 'Enables a disabled person.',
    reply: Person,
    answer: (deps, request) => changePerson(deps, request, 'person.enabled', { disabledAt: null }),
  }),
  route('POST', '/admin/v1/people/:id/sign-out', {
    gate: 'admin',
    permission: 'people:write',
    summary: 'Ends all sessions of a person.',
    reply: Type.Object({ removed: Type.Integer() }),
    answer: async (deps, { path, caller }) => {
      const { id } = await personNamed(deps, path.id);
      const removed = await deps.store.people.endSessions(id);
      await deps.store.recordAudit(audited(deps, caller, 'person.signed-out', id)(undefined, { removed }));
      return { removed };
    },
  }),
  route('DELETE', '/admin/v1/people/:id', {
    gate: 'admin',
    permission: 'people:write',
    summary: 'Removes a person with sessions and passkeys. Accounts, keys and the audit log stay.',
    reply: Type.Object({ id: Type.String(), removed: Type.Literal(true) }),
    answer: async (deps, { path, caller }) => {
      const { id } = await personNamed(deps, path.id);
      await deps.store.people.removePerson(id, audited(deps, caller, 'person.removed', id));
      return { id, removed: true };
    },
  }),
  route('POST', '/admin/v1/people/:id/login-link', {
    gate: 'admin',
    permission: 'people:write',
    summary: 'Makes a link that signs the person in once, within 15 minutes.',
    reply: Link,
    answer: async (deps, { path, caller }) => createLink(deps, caller.key, path.id),
  }),
  route('POST', '/admin/v1/login-link', {
    gate: 'admin',
    permission: 'people:write',
    summary:
      'Makes a link that signs the first owner in once, within 15 minutes. If there is no owner, one is created.',
    reply: Link,
    answer: async (deps, { caller }) => createLink(deps, caller.key, undefined),
  }),
];

async function createPerson(
  deps: HttpDeps,
  { body, caller }: RouteRequest<unknown, Static<typeof NewPerson>>,
): Promise<object> {
  const { name, role, email } = body;
  const { accounts = [] } = await changeOf(deps, body);
  const at = deps.now();
  const id = newTimedId('person_', at);
  const person: PersonRow = {
    ...{ id, name, role, accounts, createdAt: at },
    ...(email !== undefined && { email: email.toLowerCase() }),
  };
  const { path, expiresAt } = await consoleOf(deps).invite(person, audited(deps, caller, 'person.created', id));
  return { ...(await writePerson(deps, person)), link: { path, expiresAt: writeTime(expiresAt) } };
}

function consoleOf({ people }: HttpDeps): People {
  if (people) return people;
  throw new GatewayError('conflict', 'The console is off (MODELPORT_CONSOLE).');
}

async function createLink(deps: HttpDeps, actor: string, id: string | undefined): Promise<object> {
  const { path, expiresAt, person } = await consoleOf(deps).createLink(id, actor);
  await deps.store.recordAudit(audited(deps, { key: actor }, 'person.link-created', person)(undefined, undefined));
  return { path, expiresAt: writeTime(expiresAt) };
}

async function changePerson<Body>(
  deps: HttpDeps,
  { path, caller }: RouteRequest<unknown, Body>,
  action: string,
  change: PersonChange,
): Promise<object> {
  const { id } = await personNamed(deps, path.id);
  const after = await deps.store.people.updatePerson(id, change, audited(deps, caller, action, id));
  return writePerson(deps, after ?? (await personNamed(deps, id)));
}

async function changeOf({ store }: HttpDeps, body: Static<typeof ChangedPerson>): Promise<PersonChange> {
  const { name, role, accounts } = body;
  const named = accounts && (await Promise.all(accounts.map((account) => accountNamed(store, account))));
  return {
    ...(name !== undefined && { name }),
    ...(role !== undefined && { role }),
    ...(named && { accounts: [...new Set(named.map(({ id }) => id))] }),
  };
}

async function personNamed({ store }: HttpDeps, id = ''): Promise<PersonRow> {
  const person = await store.people.person(id);
  if (person) return person;
  throw new GatewayError('not_found', `There is no person with the id "${id}".`, { param: 'id' });
}

async function writePerson({ store }: HttpDeps, person: PersonRow): Promise<object> {
  const { id, name, email, role, accounts, createdAt, seenAt, disabledAt } = person;
  const written = (time: number | undefined) => (time === undefined ? undefined : writeTime(time));
  return {
    ...{ id, name, email, role, accounts, createdAt: writeTime(createdAt) },
    ...{ seenAt: written(seenAt), disabledAt: written(disabledAt) },
    hasPassword: person.passwordHash !== undefined,
    hasTotp: person.totpStored !== undefined,
    passkeys: (await store.people.passkeys(id)).length,
    oidc: person.oidc !== undefined,
  };
}
