/** The drawer beside a list. */
import { type ReactNode, useEffect, useRef } from 'react';
import { useWords } from '../i18n/words.ts';
import { Icon } from './icon.tsx';
import { common } from './words.ts';

/** A drawer beside the list. Esc closes it, and the focus goes back to where it was. */
export function Drawer({
  title,
  sub,
  onClose,
  children,
}: {
  title: string;
  sub?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const t = useWords(common);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.focus();
    return () => (before instanceof HTMLElement ? before.focus() : undefined);
  }, []);
  return (
    <aside
      className="drawer"
      aria-label={title}
      ref={element}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !document.querySelector('dialog[open]')) onClose();
      }}
    >
      <header>
        <div className="cut">
          <h2 className="cut" title={title}>
            {title}
          </h2>
          {sub && <span className="mono dimmer">{sub}</span>}
        </div>
        <div className="acts">
          <button className="btn plain icon" type="button" aria-label={t('close')} onClick={onClose}>
            <Icon name="close" />
          </button>
        </div>
      </header>
      {children}
    </aside>
  );
}
