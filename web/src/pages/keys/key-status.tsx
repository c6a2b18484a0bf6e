/** The state of a key, in its colour. */
import type { Key } from '../../api/types.ts';
import { useWords } from '../../i18n/words.ts';
import { Status } from '../../parts/basic.tsx';
import { common } from '../../parts/words.ts';
import { stateOf } from './state.ts';
import { words } from './words.ts';

export function KeyStatus({ of, now }: { of: Key; now: number }) {
  const t = useWords(words);
  const c = useWords(common);
  const { s, word, n } = stateOf(of, now);
  const text =
    word === 'disabled' ? c('disabled') : word === 'expiresIn' || word === 'budgetAt' ? t(word, { n }) : t(word);
  return <Status s={s}>{text}</Status>;
}
