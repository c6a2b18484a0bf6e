/** The head of the options in narrow windows. */
import { type ReactNode, useState } from 'react';
import { useWords } from '../../i18n/words.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { words } from './words.ts';

/** The head of the middle column. In narrow windows the options open from it. */
export function OptionsHead({ model, fields, children }: { model: string; fields: ReactNode; children?: ReactNode }) {
  const t = useWords(words);
  useTitle(t('title'));
  const [open, setOpen] = useState(false);
  return (
    <div className="head bar">
      <h1>{t('title')}</h1>
      <div className="acts">
        <button className="btn only-narrow" type="button" onClick={() => setOpen(true)}>
          {model || t('options')} <Icon name="down" />
        </button>
        <button className="btn only-narrow icon" type="button" aria-label={t('options')} onClick={() => setOpen(true)}>
          <Icon name="settings" />
        </button>
        {children}
      </div>
      {open && (
        <Dialog title={t('options')} onClose={() => setOpen(false)}>
          <div className="form">{fields}</div>
        </Dialog>
      )}
    </div>
  );
}
