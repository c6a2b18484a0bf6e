/** The bound beyond which a bill is not believed. */
import type { Money } from '../canonical/money.ts';

/** No call costs more: a provider's figure that says so is wrong, and the call is charged what was held for it. */
export const DEAREST_CALL: Money = 10_000_000n * 10n ** 9n;
