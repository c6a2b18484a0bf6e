/**
 * What people may not change on their own account's keys: a limit that somebody else has set can be tightened only, a key that somebody else
 * has disabled stays disabled, and what is captured is decided by operators.
 */
import { GatewayError } from '../../../canonical/errors.ts';
import type { AuditRow, KeyRow, Store } from '../../../store/store.ts';
import { moneyOf, type TimeAsked, timeOf, type UsdAsked } from '../../fields.ts';

type Body = { readonly [member: string]: unknown };

/** Members whose absence means no limit, with what a looser value is. */
const LOOSENED: { readonly [member: string]: (before: never, after: never) => boolean } = {
  expiresAt: (before: number, after: TimeAsked) => timeOf(after, 'expiresAt') > before,
  requestsPerMinute: (before: number, after: number) => after > before,
  tokensPerMinute: (before: number, after: number) => after > before,
  concurrency: (before: number, after: number) => after > before,
  models: hasOthers,
  addresses: hasOthers,
  scopes: hasOthers,
  callerRouting: (before: boolean, after: boolean) => after && !before,
  budget: (before: object, after: object) => isLooserBudget(before as Body, after as Body),
};

function hasOthers(before: readonly string[], after: readonly string[]): boolean {
  return after.some((one) => !before.includes(one));
}

function isLooserBudget(before: Body, after: Body): boolean {
  return Object.entries(before).some(([window, amount]) => {
    const asked = after[window];
    return asked === undefined || asked === null || moneyOf(asked as UsdAsked, `budget.${window}`) > (amount as bigint);
  });
}

/** The members of the body that loosen what the key has. */
export function loosened(key: KeyRow, body: Body): string[] {
  return Object.entries(LOOSENED).flatMap(([member, isLooser]) => {
    const before = key[member as keyof KeyRow];
    const after = body[member];
    if (before === undefined || after === undefined) return [];
    return after === null || isLooser(before as never, after as never) ? [member] : [];
  });
}

/** Who has given the member its value: the actor of the newest audit row that changed it. */
function setterOf(audits: readonly AuditRow[], member: string): string | undefined {
  const valueIn = (text: string | undefined) => JSON.stringify((JSON.parse(text ?? '{}') as Body)[member]);
  return audits.find(({ before, after }) => after !== undefined && valueIn(before) !== valueIn(after))?.actor;
}

/** Of each key so many of the newest changes are looked at; a limit that is older was set by somebody else. */
const MOST_AUDITS = 200;

/** Throws `permission_denied`. `person`: the id of who asks. */
export async function refuseLoosening(
  store: Pick<Store, 'audits'>,
  key: KeyRow,
  { body, action, person }: { body: Body; action: 'change' | 'enable'; person: string },
): Promise<void> {
  const members = action === 'enable' ? ['disabledAt'] : loosened(key, body);
  if (members.length === 0 || (action === 'enable' && key.disabledAt === undefined)) return;
  const audits = await store.audits({ subject: key.id, limit: MOST_AUDITS });
  for (const member of members) {
    if (setterOf(audits, member) === person) continue;
    const message =
      member === 'disabledAt'
        ? 'This key was disabled by somebody else. Ask an operator to enable it.'
        : `"${member}" was set by somebody else: you can make it stricter, not looser. Ask an operator.`;
    throw new GatewayError('permission_denied', message, { param: member });
  }
}

/** Throws `permission_denied`: a key's own mode would count before that of the model. */
export function refuseCapture(body: Body): void {
  if (body.capture === undefined) return;
  throw new GatewayError('permission_denied', 'Operators decide what is captured. Leave "capture" out.', {
    param: 'capture',
  });
}
