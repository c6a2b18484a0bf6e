/** The maximum cost of one call. */
import type { Money } from '../../canonical/money.ts';

/** A provider's report above this is wrong, and the call is charged its hold. */
export const MAXIMUM_CALL_COST: Money = 10_000_000n * 10n ** 9n;
