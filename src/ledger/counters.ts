/** The counter of each entry kind: the other side of the double entry. */
import type { EntryKind } from '../store/rows.ts';

export const COUNTERS: { readonly [kind in EntryKind]: string } = {
  'top-up': 'cash',
  charge: 'revenue',
  completion: 'revenue',
  refund: 'revenue',
  adjustment: 'adjustments',
  redemption: 'codes',
};
