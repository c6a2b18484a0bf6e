/** Small parts that carry the design's classes. */
import { type ReactNode, useEffect, useState } from 'react';
import { ago, fullTime } from '../format/numbers.ts';
import { Icon, type IconName } from './icon.tsx';
import { useTitle } from './use-title.ts';

export type State = 'ok' | 'warn' | 'bad' | 'idle' | 'live';

/** A dot and a word, always both. */
export function Status({ s, children }: { s: State; children: ReactNode }) {
  return (
    <span className="st" data-s={s}>
      {children}
    </span>
  );
}

export function Head({ title, children, beside }: { title: string; children?: ReactNode; beside?: ReactNode }) {
  useTitle(title);
  return (
    <div className="head">
      <h1>{title}</h1>
      {beside}
      {children && <div className="acts">{children}</div>}
    </div>
  );
}

interface PageProps {
  title: string;
  /** On the right of the title. */
  actions?: ReactNode;
  /** Right after the title. */
  beside?: ReactNode;
  children: ReactNode;
}

/** A page with its title. */
export function Page({ title, actions, beside, children }: PageProps) {
  return (
    <main className="page" id="main">
      <Head title={title} beside={beside}>
        {actions}
      </Head>
      {children}
    </main>
  );
}

export function Note({ s, children }: { s?: 'ok' | 'warn' | 'bad'; children: ReactNode }) {
  const icon: IconName = s === 'ok' ? 'check' : s ? 'warn' : 'info';
  return (
    <div className="note" data-s={s} role={s === 'bad' ? 'alert' : undefined}>
      <Icon name={icon} />
      <div>{children}</div>
    </div>
  );
}

/** The time on a clock that ticks once in five seconds, for relative times. */
export function useNow(everyMs = 5000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** Relative time, with the complete one as title. */
export function Ago({ at, now }: { at: string; now: number }) {
  return (
    <time dateTime={at} title={fullTime(at)}>
      {ago(at, now)}
    </time>
  );
}

/** A choice of few things, all visible. */
export function Segments<T extends string>(props: {
  label: string;
  value: T;
  options: readonly (readonly [value: T, text: string])[];
  onChange: (value: T) => void;
}) {
  return (
    <fieldset className="seg" aria-label={props.label}>
      {props.options.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}

export interface Fact {
  label: string;
  value: ReactNode;
  note?: ReactNode;
  spark?: ReactNode;
}

/** The strip of figures. */
export function Figures({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="figures" style={{ '--n': facts.length }}>
      {facts.map(({ label, value, note, spark }) => (
        <div className="figure" key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
          {note !== undefined && <dd className="was">{note}</dd>}
          {spark !== undefined && (
            <dd className="spark" aria-hidden="true">
              {spark}
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

export function Share({ percent, s }: { percent: number; s?: 'ok' | 'warn' | 'idle' }) {
  return (
    <span className="share" data-s={s} style={{ '--p': `${Math.min(100, Math.max(0, percent))}%` }}>
      <i />
    </span>
  );
}

export function Panel(props: { title: string; id: string; width?: number; beside?: ReactNode; children: ReactNode }) {
  const { title, id, width = 12, beside, children } = props;
  return (
    <section className={`panel w${width}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {beside}
      </header>
      {children}
    </section>
  );
}
