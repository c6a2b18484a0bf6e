/** The playground: calls of people, charged to a key of an account. `/console/v1/…` is `/v1/…` with a session in the place of the key. */
import { type Caller, callerOf } from '../access/access.ts';
import { auditRow } from '../access/audit.ts';
import { issueKey } from '../access/key.ts';
import { GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import type { ClientRequest } from '../http1/client-request.ts';
import type { SignedIn } from '../people/sessions.ts';
import type { KeyRow } from '../store/rows.ts';
import type { HttpDeps } from './http-deps.ts';
import { personOf } from './signed-in.ts';

const PREFIX = '/console';
const PLAYED = /^\/console\/v\d\w*\//;
const KEY_HEADER = 'modelport-playground-key';
const KEY_NAME = 'Playground';
const KEYS_AT_ONCE = 1000;

export const isPlayed = (path: string): boolean => PLAYED.test(path);

/** The path of the call. The request is changed to it. */
export function playedPath(request: ClientRequest, path: string): string {
  Object.assign(request, { target: request.target.slice(PREFIX.length) });
  return path.slice(PREFIX.length);
}

/** The key that the person's call is charged to. Throws `sign_in_required`, `permission_denied`, or as a call with this key does. */
export async function playedBy(deps: HttpDeps, request: ClientRequest): Promise<Caller> {
  const person = await personOf(deps, request, { permission: 'playground' });
  const id = request.headers.get(KEY_HEADER);
  const row = id === null ? undefined : await deps.store.keyById(id);
  if (row?.kind !== 'caller' || !maySpend(person, row.account))
    throw new GatewayError('not_found', `The header ${KEY_HEADER} must name a key of an account that you may use.`);
  if (row.addresses)
    throw new GatewayError('address_not_allowed', 'This key is bound to addresses: the playground cannot use it.');
  const caller = callerOf(row, await deps.store.account(row.account));
  const { refusal } = await deps.access.look(caller, 0, deps.now());
  if (refusal) throw refusal;
  return caller;
}

/** Whoever may make keys of an account could spend its money anyway. */
export const maySpend = ({ person, permissions }: SignedIn, account: string): boolean =>
  person.accounts.includes(account) || permissions.has('keys:write');

/** The key of the account's playground, created on first use. Its secret is not stored. */
export async function playgroundKey(deps: HttpDeps, { person }: SignedIn, account: string): Promise<KeyRow> {
  const { store, now } = deps;
  const keys = await store.keys({ account, limit: KEYS_AT_ONCE });
  const known = keys.find(
    ({ name, kind, disabledAt }) => name === KEY_NAME && kind === 'caller' && disabledAt === undefined,
  );
  if (known) return known;
  const { hash, last4 } = issueKey('caller');
  const at = now();
  const row: KeyRow = { id: newId('key_'), account, kind: 'caller', name: KEY_NAME, hash, last4, createdAt: at };
  await store.createKey(row, () =>
    auditRow({ actor: person.id, action: 'key.created', subject: row.id, after: row }, at),
  );
  return row;
}
