/** A member's home: the balance and how long it lasts, spending, keys and the latest calls. */
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { changePercent, chartValue, shortMoney } from '../../format/money.ts';
import { change, count, utcDayOf } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Figures, Head, Panel, Segments } from '../../parts/basic.tsx';
import { type Period, readPeriod } from '../../parts/filters.ts';
import { Icon } from '../../parts/icon.tsx';
import { Loaded } from '../../parts/states.tsx';
import { common } from '../../parts/words.ts';
import { CallTable } from '../calls/call-table.tsx';
import { useNames } from '../calls/names.ts';
import { STEPS } from '../overview/sums.ts';
import { BalanceNote } from './balance-note.tsx';
import { fillBuckets } from './buckets.ts';
import { ByModel, YourKeys } from './panels.tsx';
import { Redeem } from './redeem.tsx';
import { useLatestCalls, useOwnAccount, useOwnUsage, useUsageBefore } from './use-home.ts';
import { words } from './words.ts';

const route = getRouteApi('/');
const CHOICES = ['7d', '30d', '90d'] as const;
type Choice = (typeof CHOICES)[number];

const choiceOf = (period: Period): Choice => CHOICES.find((choice) => choice === period) ?? '30d';

export function HomePage() {
  const t = useWords(words);
  const navigate = useNavigate();
  const period = choiceOf(readPeriod(route.useSearch().period, '30d'));
  const account = useOwnAccount();
  const [redeeming, setRedeeming] = useState(false);
  const redeem = () => setRedeeming(true);
  return (
    <main className="page" id="main" style={{ maxInlineSize: '76rem', marginInline: '0 auto' }}>
      <Head title={t('title')}>
        <Segments<Choice>
          label={t('period')}
          value={period}
          options={CHOICES.map((value) => [value, t(`p${value}`)] as const)}
          onChange={(value) => void navigate({ to: '/', search: { period: value } })}
        />
        <button type="button" className="btn" onClick={redeem}>
          {t('redeem')}
        </button>
        <Link className="btn go" to="/keys" search={{ open: 'new' }}>
          <Icon name="plus" />
          {t('createKey')}
        </Link>
      </Head>
      <Loaded of={account} bones={4}>
        {(data) => (
          <>
            <BalanceNote account={data} onRedeem={redeem} />
            <HomeFigures available={data.available} held={data.held} period={period} />
          </>
        )}
      </Loaded>
      <div className="grid">
        <ByDay period={period} />
        <YourKeys />
        <Latest />
        <ByModel period={period} />
      </div>
      {redeeming && <Redeem onClose={() => setRedeeming(false)} />}
    </main>
  );
}

function HomeFigures({ available, held, period }: { available: string; held: string; period: Choice }) {
  const t = useWords(words);
  const c = useWords(common);
  const usage = useOwnUsage('day', period).data?.total;
  const before = useUsageBefore(period).data?.total;
  const days = period.replace('d', '');
  const spendChange = usage && before ? changePercent(usage.cost, before.cost) : undefined;
  const callChange =
    usage && before && before.calls > 0 ? ((usage.calls - before.calls) / before.calls) * 100 : undefined;
  return (
    <Figures
      facts={[
        { label: c('balance'), value: shortMoney(available), note: t('onHold', { amount: shortMoney(held) }) },
        {
          label: t('spend', { n: days }),
          value: (
            <>
              {shortMoney(usage?.cost)} <small className="flat">{change(spendChange)}</small>
            </>
          ),
          note: t('before', { value: shortMoney(before?.cost) }),
        },
        {
          label: c('calls'),
          value: (
            <>
              {count(usage?.calls)} <small className="flat">{change(callChange)}</small>
            </>
          ),
          note: t('before', { value: count(before?.calls) }),
        },
        { label: t('saved'), value: shortMoney(usage?.saved), note: t('before', { value: shortMoney(before?.saved) }) },
      ]}
    />
  );
}

/** Bars for days; today is faded. */
function ByDay({ period }: { period: Choice }) {
  const t = useWords(words);
  const usage = useOwnUsage('day', period);
  const days = Number(period.replace('d', ''));
  return (
    <Panel title={t('byDay')} id="m-u" width={8}>
      <div className="in">
        <Loaded of={usage} bones={3}>
          {(report) => {
            const buckets = fillBuckets(report.data, Date.parse(report.from), Date.parse(report.to), STEPS.day);
            const most = Math.max(...buckets.map(({ spend }) => spend), 0);
            const last = buckets.length - 1;
            const highest = report.data.find(({ cost }) => most > 0 && chartValue(cost) === most);
            return (
              <>
                {highest && (
                  <p className="dim">
                    {t('highest', { amount: shortMoney(highest.cost), day: utcDayOf(highest.day ?? highest.group) })}
                  </p>
                )}
                <div className="bars" role="img" aria-label={t('byDayLabel', { n: days })}>
                  {buckets.map(({ at, spend }, index) => (
                    <i
                      key={at}
                      className={index === last ? 'now' : undefined}
                      style={{ '--p': `${most === 0 ? 0 : (spend / most) * 100}%` }}
                    />
                  ))}
                </div>
                <div className="under">
                  <span>{utcDayOf(buckets[0]?.at ?? report.from)}</span>
                  <span>{t('today')}</span>
                </div>
              </>
            );
          }}
        </Loaded>
      </div>
    </Panel>
  );
}

function Latest() {
  const t = useWords(words);
  const navigate = useNavigate();
  const calls = useLatestCalls();
  const names = useNames();
  return (
    <Panel title={t('latest')} id="m-c" width={8} beside={<Link to="/calls">{t('allCalls')}</Link>}>
      <Loaded of={calls}>
        {({ data }) =>
          data.length === 0 ? (
            <div className="in">
              <p className="dim">{t('noCalls')}</p>
            </div>
          ) : (
            <CallTable
              short
              label={t('latest')}
              rows={data}
              names={names}
              onOpen={({ id }) => void navigate({ to: '/calls', search: { call: id } })}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}
