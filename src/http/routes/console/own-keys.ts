/**
 * What people may not change on their own account's keys: a limit that somebody else has set can be tightened only, a key that somebody else
 * has disabled stays disabled, and what is captured is decided by operators.
 */
import { entryOf } from '../../../canonical/entry-of.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { AuditRow, KeyRow } from '../../../store/rows.ts';
import type { Store } from '../../../store/store.ts';
import { type TimeInput, timeOf } from '../../fields/time.ts';
import { moneyOf, type UsdInput } from '../../fields/usd.ts';

type Body = { readonly [member: string]: unknown };

/** Members whose absence means no limit, with what a looser value is. */
const LOOSENED: { readonly [member: string]: (before: never, after: never) => boolean } = {
  expiresAt: (before: number, after: TimeInput) => timeOf(after, 'expiresAt') > before,
  requestsPerMinute: (before: number, after: number) => after > before,
  tokensPerMinute: (before: number, after: number) => after > before,
  concurrency: (before: number, after: number) => after > before,
  models: hasOthers,
  addresses: hasOthers,
  scopes: hasOthers,
  callerRouting: (before: boolean, after: boolean) => after && !before,
  budget: (before: object, after: object) => isLooserBudget(before as Body, after as UsdInput | Body),
};

function hasOthers(before: readonly string[], after: readonly string[]): boolean {
  return after.some((one) => !before.includes(one));
}

function isLooserBudget(before: Body, after: UsdInput | Body): boolean {
  const budget = typeof after === 'object' ? after : { total: after };
  return Object.entries(before).some(([window, amount]) => {
    const wanted = budget[window];
    return wanted === undefined || wanted === null || amountOf(wanted, window) > amountOf(amount, window);
  });
}

/** Amounts of the audit log are texts. */
const amountOf = (amount: unknown, window: string): bigint =>
  typeof amount === 'bigint' ? amount : moneyOf(amount as UsdInput, `budget.${window}`);

const isLooserThan = (before: unknown, member: string, after: unknown): boolean =>
  after === null || (LOOSENED[member]?.(before as never, after as never) ?? false);

/** The members of the body that loosen what the key has. */
function loosened(key: KeyRow, body: Body): string[] {
  return Object.keys(LOOSENED).filter((member) => {
    const before = key[member as keyof KeyRow];
    const after = body[member];
    return before !== undefined && after !== undefined && isLooserThan(before, member, after);
  });
}

/**
 * The value that somebody else has given the member last, by the newest changes; `undefined` if there is none, so that the person decides.
 * What the person has changed since does not count: who makes a limit stricter must not own it. `current`: returned where the changes do not tell.
 */
function boundOf(audits: readonly AuditRow[], member: string, person: string, current: unknown): unknown {
  const valueIn = (text: string | undefined) => (JSON.parse(text ?? '{}') as Body)[member];
  for (const { actor, before, after } of audits) {
    if (after === undefined) continue;
    const [old, given] = [valueIn(before), valueIn(after)];
    if (JSON.stringify(old) === JSON.stringify(given)) continue;
    if (actor !== person) return given;
    if (old === undefined) return undefined;
  }
  return current;
}

/** Of each key so many of the newest changes are looked at; a limit that is older was set by somebody else. */
const MOST_AUDITS = 200;

/** Throws `permission_denied`. `person`: the id of the requester. */
export async function refuseLoosening(
  store: Pick<Store, 'audits'>,
  key: KeyRow,
  { body, action, person }: { body: Body; action: 'change' | 'enable'; person: string },
): Promise<void> {
  const members = action === 'enable' ? ['disabledAt'] : loosened(key, body);
  const namesMore = action === 'change' && body.aliases !== undefined && key.models !== undefined;
  if ((members.length === 0 && !namesMore) || (action === 'enable' && key.disabledAt === undefined)) return;
  const audits = await store.audits({ subject: key.id, limit: MOST_AUDITS });
  const bound = (member: string) => boundOf(audits, member, person, key[member as keyof KeyRow]);
  for (const member of members) {
    const before = bound(member);
    if (before === undefined || (member !== 'disabledAt' && !isLooserThan(before, member, body[member]))) continue;
    throw refusal(
      member,
      member === 'disabledAt'
        ? 'This key was disabled by somebody else. Ask an operator to enable it.'
        : `"${member}" was set by somebody else: you can make it stricter, not looser. Ask an operator.`,
    );
  }
  if (namesMore && changesMeaning((bound('models') ?? []) as readonly string[], key.aliases, body.aliases as Aliases))
    throw refusal(
      'aliases',
      '"models" was set by somebody else: names in it must keep their meaning. Ask an operator.',
    );
}

type Aliases = KeyRow['aliases'] | null;

/** A key may call what a name of its list means to it, so another meaning is another model. */
function changesMeaning(models: readonly string[], before: Aliases, after: Aliases): boolean {
  const meaningIn = (aliases: Aliases, name: string) => entryOf(aliases ?? {}, name);
  return models.some((name) => meaningIn(before, name) !== meaningIn(after, name));
}

const refusal = (param: string, message: string) => new GatewayError('permission_denied', message, { param });

/** Throws `permission_denied`: a key's own mode would count before that of the model. */
export function refuseCapture(body: Body): void {
  if (body.capture === undefined) return;
  throw new GatewayError('permission_denied', 'Operators decide what is captured. Leave "capture" out.', {
    param: 'capture',
  });
}
