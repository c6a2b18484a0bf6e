/** Loading, empty, failed, denied and offline, the same on every page. */
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { ApiError, OfflineError } from '../api/client.ts';
import { clockTime } from '../format/numbers.ts';
import { useWords } from '../i18n/words.ts';
import { Note } from './basic.tsx';
import { firstWords } from './first-words.ts';
import { Icon, type IconName } from './icon.tsx';

const SKELETON_AFTER_MS = 150;

/** True after 150 ms: what is there sooner needs no skeleton. */
function useLate(): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return late;
}

export function Bones({ rows = 6 }: { rows?: number }) {
  const t = useWords(firstWords);
  if (!useLate()) return null;
  return (
    <div className="in form" aria-busy="true" role="status">
      <span className="off">{t('loading')}</span>
      {Array.from({ length: rows }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bones have no identity
        <i key={at} className="bone" style={{ '--p': `${85 - ((at * 17) % 40)}%` }} />
      ))}
    </div>
  );
}

export function Empty(props: { icon?: IconName; title: string; text?: ReactNode; children?: ReactNode }) {
  return (
    <div className="empty">
      <Icon name={props.icon ?? 'info'} />
      <h2>{props.title}</h2>
      {props.text !== undefined && <p>{props.text}</p>}
      {props.children && <div className="acts">{props.children}</div>}
    </div>
  );
}

/** What this role may not see. */
export function Denied() {
  const t = useWords(firstWords);
  return <Empty icon="info" title={t('denied')} />;
}

export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const t = useWords(firstWords);
  if (error instanceof ApiError && error.status === 403) return <Denied />;
  const isOffline = error instanceof OfflineError;
  return (
    <div className="empty" role="alert">
      <Icon name="warn" />
      <h2>{isOffline ? t(error.isLate ? 'noAnswer' : 'offlineNow') : t('error')}</h2>
      {!isOffline && <p>{messageOf(error)}</p>}
      {retry && (
        <div className="acts">
          <button type="button" className="btn" onClick={retry}>
            {t('retry')}
          </button>
        </div>
      )}
      {error instanceof ApiError && error.requestId && <p className="mono dimmer">{error.requestId}</p>}
    </div>
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Shows what a read has: old data stays while it is read again, and when that fails. What belongs to another question is shown as such. */
export function Loaded<T>(props: { of: UseQueryResult<T>; bones?: number; children: (data: T) => ReactNode }) {
  const t = useWords(firstWords);
  const { data, error, refetch, dataUpdatedAt, isPlaceholderData } = props.of;
  if (data === undefined) {
    return error ? <Failed error={error} retry={() => void refetch()} /> : <Bones rows={props.bones ?? 6} />;
  }
  return (
    <>
      {isPlaceholderData && (
        <span className="before-this" role="status" aria-busy="true">
          <span className="off">{t('loading')}</span>
        </span>
      )}
      {error instanceof OfflineError && <Note s="warn">{t('offline', { time: clockTime(dataUpdatedAt) })}</Note>}
      {error !== null && !(error instanceof OfflineError) && (
        <Note s="warn">{t('stale', { reason: messageOf(error), time: clockTime(dataUpdatedAt) })}</Note>
      )}
      {props.children(data)}
    </>
  );
}
