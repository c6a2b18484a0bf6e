/** An account as the admin API shows it. */
import { Type } from 'typebox';
import { writeMoney } from '../../../canonical/money.ts';
import type { AccountRow } from '../../../store/rows.ts';
import { named } from '../../fields/named.ts';
import { Time, writeTime } from '../../fields/time.ts';
import { Usd } from '../../fields/usd.ts';
import { LIMITS, writeBudget } from './limit-fields.ts';

export const Account = named('Account', {
  id: Type.String(),
  name: Type.String(),
  available: Usd,
  held: Usd,
  createdAt: Time,
  disabledAt: Type.Optional(Time),
  priceGroup: Type.Optional(Type.String()),
  priceFactor: Type.Optional(Type.String({ description: 'the factor of the price group' })),
  ...LIMITS.shown,
});

export function writeAccount({ balance, held, createdAt, disabledAt, budget, ...account }: AccountRow): object {
  return {
    ...account,
    available: writeMoney(balance - held),
    held: writeMoney(held),
    createdAt: writeTime(createdAt),
    disabledAt: disabledAt === undefined ? undefined : writeTime(disabledAt),
    budget: budget && writeBudget(budget),
  };
}
