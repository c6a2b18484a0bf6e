/** Amounts in requests and responses. */
import { type Static, Type } from 'typebox';
import { GatewayError } from '../../canonical/errors.ts';
import { type Money, readMoney } from '../../canonical/money.ts';

const AN_AMOUNT = 'an amount in USD as a decimal string, such as "5.00"';

/** Responses contain strings. Requests may also send JSON numbers (`5`) if they are exact to one nano-USD. */
export const Usd = Type.String({ description: AN_AMOUNT });
export const UsdInput = Type.Union([Type.String(), Type.Number()], { description: AN_AMOUNT });
export type UsdInput = Static<typeof UsdInput>;

const NANO_DIGITS = 9;
/** Ten million USD: far below the largest database integer, far above any real amount. */
const LARGEST = 10_000_000n * 10n ** 9n;

export function moneyOf(value: UsdInput, param: string): Money {
  const amount = readMoney(typeof value === 'number' ? value.toFixed(NANO_DIGITS) : value);
  if (amount !== undefined && amount <= LARGEST && amount >= -LARGEST) return amount;
  throw new GatewayError(
    'invalid_request',
    `"${param}" must be ${AN_AMOUNT}, with at most nine decimals, and at most ten million.`,
    {
      param,
    },
  );
}
