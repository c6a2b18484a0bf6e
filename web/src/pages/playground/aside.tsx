/** Beside the playground: the request as code, and the receipt of the last call. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, ask } from '../../api/client.ts';
import { useOwnPath } from '../../api/queries.ts';
import { baseUrlOf, useSession } from '../../api/session.ts';
import type { Receipt } from '../../api/types.ts';
import { exactMoney } from '../../format/amounts.ts';
import { count, duration } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { common } from '../../parts/words.ts';
import { type CodeLanguage, codeFor, LANGUAGES, type Sent } from './code.ts';
import { words } from './words.ts';

export function Aside({ sent, lastCall }: { sent: Sent; lastCall: string | undefined }) {
  const t = useWords(words);
  return (
    <section className="aside" aria-label={t('aside')}>
      <RequestCode sent={sent} />
      {lastCall && <LastReceipt id={lastCall} />}
    </section>
  );
}

function RequestCode({ sent }: { sent: Sent }) {
  const t = useWords(words);
  const session = useSession();
  const [language, setLanguage] = useState<CodeLanguage>('curl');
  const code = codeFor(language, sent, baseUrlOf(session));
  return (
    <div style={{ minInlineSize: 0 }}>
      <Tabs label={t('language')} panel="p-code" tabs={LANGUAGES} value={language} onChange={setLanguage} />
      <div className="code" id="p-code" role="tabpanel" aria-label={language} style={{ marginBlockStart: '.75rem' }}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable from the keyboard */}
        <pre tabIndex={0}>{code}</pre>
        <CopyButton text={code} iconOnly />
      </div>
    </div>
  );
}

const TRIES = 8;
const WAIT_MS = 250;

/** A call is filed a moment after its answer ended. */
function useFiledReceipt(id: string) {
  const path = useOwnPath('/admin/v1/calls', '/calls');
  return useQuery({
    queryKey: ['receipt', id],
    queryFn: () => ask<Receipt>(`${path}/${encodeURIComponent(id)}`),
    retry: (failures, error) => error instanceof ApiError && error.status === 404 && failures < TRIES,
    retryDelay: WAIT_MS,
  });
}

function LastReceipt({ id }: { id: string }) {
  const t = useWords(words);
  const c = useWords(common);
  const { data } = useFiledReceipt(id);
  if (!data) return null;
  const { usage, firstByteMs, durationMs } = data;
  const seconds = (durationMs - (firstByteMs ?? 0)) / 1000;
  const speed = usage?.output && seconds > 0 ? usage.output / seconds : undefined;
  return (
    <div className="panel">
      <header>
        <h2>{t('lastReceipt')}</h2>
        <Link to="/calls" search={{ call: id }}>
          {c('open')}
        </Link>
      </header>
      <div className="in">
        <dl className="facts">
          <div>
            <dt>{c('cost')}</dt>
            <dd style={{ font: 'var(--t-20)' }}>{exactMoney(data.cost)}</dd>
          </div>
          <div>
            <dt>{c('firstToken')}</dt>
            <dd style={{ paddingBlockStart: '4px' }}>{duration(firstByteMs)}</dd>
          </div>
        </dl>
        <ChargeTable receipt={data} />
        <dl className="pairs" style={{ marginBlockStart: '.75rem', gridTemplateColumns: '6rem 1fr' }}>
          {data.provider && (
            <>
              <dt>{c('provider')}</dt>
              <dd>{data.provider}</dd>
            </>
          )}
          <dt>{t('attempts')}</dt>
          <dd>{data.attempts.length}</dd>
          {speed !== undefined && (
            <>
              <dt>{t('speed')}</dt>
              <dd>{t('speedValue', { n: count(speed) })}</dd>
            </>
          )}
        </dl>
      </div>
    </div>
  );
}

const KINDS = ['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] as const;

function ChargeTable({ receipt }: { receipt: Receipt }) {
  const t = useWords(words);
  const c = useWords(common);
  const nameOf = (component: string) => {
    const known = KINDS.find((kind) => kind === component);
    return known ? t(known) : component;
  };
  if (receipt.charge.length === 0) return null;
  return (
    <table className="mini" style={{ marginBlockStart: '.75rem' }}>
      <thead>
        <tr>
          <th>{t('kind')}</th>
          <th className="num">{t('quantity')}</th>
          <th className="num">{c('cost')}</th>
        </tr>
      </thead>
      <tbody>
        {receipt.charge.map(({ component, quantity, amount }) => (
          <tr key={component}>
            <td>{nameOf(component)}</td>
            <td className="num dim">{count(quantity)}</td>
            <td className="num">{exactMoney(amount)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
