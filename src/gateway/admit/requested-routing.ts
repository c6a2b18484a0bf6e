/** The caller's preferences for models and providers. */
import type { Wishes } from '../../routing/wishes.ts';

export interface RequestedRouting {
  /** Other models that may answer, in order. */
  readonly models: readonly string[];
  readonly wishes: Wishes | undefined;
}
