/** Tabs. */
import type { KeyboardEvent } from 'react';

interface Props<T extends string> {
  label: string;
  /** The id of the panel that the tabs change. */
  panel: string;
  tabs: readonly T[];
  value: T;
  onChange: (value: T) => void;
}

/** Tabs by the ARIA pattern: one stop for the Tab key, arrows move. */
export function Tabs<T extends string>({ label, panel, tabs, value, onChange }: Props<T>) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = (tabs.indexOf(value) + step + tabs.length) % tabs.length;
    onChange(tabs[next] as T);
    (event.currentTarget.children[next] as HTMLElement).focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          aria-selected={tab === value}
          aria-controls={panel}
          tabIndex={tab === value ? 0 : -1}
          onClick={() => onChange(tab)}
        >
          {tab}
        </button>
      ))}
    </div>
  );
}
