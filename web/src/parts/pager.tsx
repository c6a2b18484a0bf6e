/** The way through the pages of a list. */
import type { ReactNode } from 'react';
import { dictionary, useWords } from '../i18n/words.ts';

const words = dictionary({
  newer: ['Newer', '较新'],
  older: ['Older', '较旧'],
});

/** Newer and Older below a list; there are no totals, since counting millions of rows takes seconds. */
export function Pager(props: { newer?: (() => void) | undefined; older?: (() => void) | undefined; hint?: ReactNode }) {
  const t = useWords(words);
  return (
    <div className="foot">
      {props.hint && <span>{props.hint}</span>}
      <span className="acts">
        <button type="button" className="btn" disabled={!props.newer} onClick={props.newer}>
          {t('newer')}
        </button>
        <button type="button" className="btn" disabled={!props.older} onClick={props.older}>
          {t('older')}
        </button>
      </span>
    </div>
  );
}
