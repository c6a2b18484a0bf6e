/** The drawer with one call's receipt. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ask } from '../../api/client.ts';
import { useOwnPath } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Receipt } from '../../api/types.ts';
import { exactMoney } from '../../format/amounts.ts';
import { duration, fullTime } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Note, Status } from '../../parts/basic.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { Loaded } from '../../parts/states.tsx';
import { common } from '../../parts/words.ts';
import { Attempts, Why } from './attempts.tsx';
import { Money, UsageTimesPrice } from './charge.tsx';
import { Dispute } from './dispute.tsx';
import { useNames } from './names.ts';
import { Payload } from './payload.tsx';
import { statusOf } from './status.ts';
import { words } from './words.ts';

function useReceipt(id: string) {
  const path = useOwnPath('/admin/v1/calls', '/calls');
  return useQuery({
    queryKey: ['receipt', id],
    queryFn: () => ask<Receipt>(`${path}/${encodeURIComponent(id)}`),
    placeholderData: (before) => before,
  });
}

interface Props {
  id: string;
  onClose: () => void;
  newer?: () => void;
  older?: () => void;
}

export function ReceiptDrawer({ id, onClose, newer, older }: Props) {
  const t = useWords(words);
  const receipt = useReceipt(id);
  // The receipt before stays while the next one is read, but nothing is decided on it.
  const isBefore = receipt.isPlaceholderData;
  return (
    <aside className="drawer" aria-label={t('receipt')}>
      <header>
        <div className="cut">
          <h2 className="cut">{(!isBefore && receipt.data?.model) || t('receipt')}</h2>
          <span className="mono dimmer">{id}</span>
        </div>
        <div className="acts">
          <CopyButton text={location.href} label={t('copyLink')} iconOnly isPlain />
          <Act icon="up" label={t('newerCall')} run={newer} />
          <Act icon="down" label={t('olderCall')} run={older} />
          <Act icon="close" label={t('closeReceipt')} run={onClose} />
        </div>
      </header>
      <Loaded of={receipt}>{(data) => <Body receipt={data} isBefore={isBefore} />}</Loaded>
    </aside>
  );
}

function Act({ icon, label, run }: { icon: IconName; label: string; run: (() => void) | undefined }) {
  return (
    <button className="btn plain icon" type="button" aria-label={label} title={label} disabled={!run} onClick={run}>
      <Icon name={icon} />
    </button>
  );
}

function Body({ receipt, isBefore }: { receipt: Receipt; isBefore: boolean }) {
  const may = useMay();
  return (
    <>
      <Summary receipt={receipt} />
      <Attempts receipt={receipt} />
      {receipt.route && receipt.route.length > 0 && <Why route={receipt.route} />}
      <UsageTimesPrice receipt={receipt} />
      <Money receipt={receipt} />
      {receipt.dispute && !isBefore && <Dispute receipt={receipt} />}
      {receipt.losses && receipt.losses.length > 0 && <Losses losses={receipt.losses} />}
      {may('payloads:read') && !isBefore && <Payload key={receipt.id} call={receipt.id} />}
    </>
  );
}

function Summary({ receipt }: { receipt: Receipt }) {
  const t = useWords(words);
  const c = useWords(common);
  const names = useNames();
  const { s, text } = statusOf({ ...receipt, attempts: receipt.attempts.length }, t);
  const firstToken = receipt.attempts.at(-1)?.firstTokenMs;
  const padded = { paddingBlockStart: '4px' };
  const formats = [receipt.dialect, receipt.stream && t('streamed')].filter(Boolean).join(', ');
  const translated =
    receipt.upstreamDialect && receipt.upstreamDialect !== receipt.dialect ? ` → ${receipt.upstreamDialect}` : '';
  return (
    <section aria-label={t('summary')}>
      <dl className="facts">
        <div>
          <dt>{c('cost')}</dt>
          <dd style={{ font: 'var(--t-20)', letterSpacing: 'var(--tight)', whiteSpace: 'nowrap', overflow: 'visible' }}>
            {exactMoney(receipt.cost)}
          </dd>
        </div>
        <div>
          <dt>{c('status')}</dt>
          <dd style={padded}>
            <Status s={s}>{text}</Status>
          </dd>
        </div>
        <div>
          <dt>{c('firstToken')}</dt>
          <dd style={padded}>{duration(receipt.firstByteMs ?? firstToken)}</dd>
        </div>
        <div>
          <dt>{c('duration')}</dt>
          <dd style={padded}>{duration(receipt.durationMs)}</dd>
        </div>
      </dl>
      {receipt.error && <Note s="bad">{receipt.error.message}</Note>}
      <dl className="pairs" style={{ marginBlockStart: '1rem' }}>
        <dt>{t('started')}</dt>
        <dd>
          <time dateTime={receipt.at}>{fullTime(receipt.at)}</time>
        </dd>
        {/* A member's own receipt names neither. */}
        {receipt.account && (
          <>
            <dt>{t('accountKey')}</dt>
            <dd>
              <Link to="/calls" search={{ account: receipt.account }}>
                {names.account(receipt.account)}
              </Link>{' '}
              ·{' '}
              <Link to="/calls" search={{ key: receipt.key }}>
                {names.key(receipt.key)}
              </Link>
            </dd>
          </>
        )}
        <dt>{t('format')}</dt>
        <dd>{formats + translated}</dd>
        <dt>{t('requestId')}</dt>
        <dd className="mono">{receipt.id}</dd>
        <Pair name={t('clientId')} value={receipt.clientRequestId} />
        <Pair name={t('user')} value={receipt.user} />
        <Pair name={t('tags')} value={receipt.tags?.join(', ')} />
      </dl>
    </section>
  );
}

function Pair({ name, value }: { name: string; value: string | undefined }) {
  if (!value) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Losses({ losses }: { losses: readonly string[] }) {
  const t = useWords(words);
  return (
    <section aria-labelledby="r-loss">
      <h2 id="r-loss">{t('lost')}</h2>
      {losses.map((loss) => (
        <Note s="warn" key={loss}>
          {t('lostText', { name: loss, header: 'x-modelport-strict: true' })}
        </Note>
      ))}
    </section>
  );
}
