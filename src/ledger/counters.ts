/** The other side of the double entry: where money comes from and where it goes, by the kind of an entry. */
import type { EntryKind } from '../store/store.ts';

export const COUNTERS: { readonly [kind in EntryKind]: string } = {
  'top-up': 'cash',
  charge: 'revenue',
  completion: 'revenue',
  refund: 'revenue',
  adjustment: 'adjustments',
  redemption: 'codes',
};
