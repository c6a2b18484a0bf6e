/** What an entry of the ledger is, in the reader's language. */
import { dictionary, type Translate, useWords } from '../i18n/words.ts';

const words = dictionary({
  charge: ['Charge', '扣费'],
  completion: ['Completed charge', '补扣'],
  'top-up': ['Top-up', '充值'],
  refund: ['Refund', '退款'],
  adjustment: ['Adjustment', '调整'],
  redemption: ['Redeemed code', '兑换'],
});

function entryKind(kind: string, t: Translate<typeof words>): string {
  return kind in words ? t(kind as keyof typeof words) : kind;
}

export function useEntryKind(): (kind: string) => string {
  const t = useWords(words);
  return (kind) => entryKind(kind, t);
}
