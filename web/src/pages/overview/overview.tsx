/** Overview: what the gateway did in a period, beside the period before, and what needs somebody. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { changePercent, shortMoney } from '../../format/money.ts';
import { change, count, dayOf, duration, fullTime, percent, shortTime } from '../../format/numbers.ts';
import { type Translate, useWords } from '../../i18n/words.ts';
import { type Fact, Figures, Head, Panel, Segments, Status } from '../../parts/basic.tsx';
import { PERIODS, type Period, readPeriod } from '../../parts/filters.ts';
import { Plot, Spark } from '../../parts/plot.tsx';
import { Loaded } from '../../parts/states.tsx';
import { common } from '../../parts/words.ts';
import { Attention } from './attention.tsx';
import { type Bucket, fillBuckets, latencyBuckets, STEPS, sampleOf } from './sums.ts';
import { AccountsPanel, ModelsPanel, TokensPanel } from './tables.tsx';
import { isHourly, type Overview, useOverview } from './use-overview.ts';
import { words } from './words.ts';

const route = getRouteApi('/');

export function OverviewPage() {
  const t = useWords(words);
  const navigate = useNavigate();
  const period = readPeriod(route.useSearch().period, '24h');
  const overview = useOverview(period);
  return (
    <main className="page" id="main">
      <Head title={t('title')} beside={overview.data && !overview.error && <Status s="live">{t('live')}</Status>}>
        <Segments<Period>
          label={t('period')}
          value={period}
          options={PERIODS.map((value) => [value, t(`p${value}`)] as const)}
          onChange={(value) => void navigate({ to: '/', search: { period: value } })}
        />
      </Head>
      <Loaded of={overview} bones={8}>
        {(data) => <Body data={data} period={period} />}
      </Loaded>
    </main>
  );
}

function Body({ data, period }: { data: Overview; period: Period }) {
  const t = useWords(words);
  const c = useWords(common);
  const step = STEPS[isHourly(period) ? 'hour' : 'day'];
  const now = fillBuckets(data.current.data, data.from, data.to, step);
  const before = fillBuckets(data.beforeReport.data, data.before, data.from, step);
  const writeTime = (at: number) => (isHourly(period) ? fullTime(at) : dayOf(at));
  return (
    <>
      <Figures facts={factsOf(data, now, t, c)} />
      {data.isSample && <p className="dimmer">{t('sample', { n: count(data.calls.length) })}</p>}
      <div className="grid">
        <Panel
          title={t('spendOverTime')}
          id="c-spend"
          width={8}
          beside={
            <div className="legend">
              <span>{t('now')}</span>
              <span className="before">{t('beforeSeries')}</span>
            </div>
          }
        >
          <div className="in">
            <Plot
              label={t('spendLabel')}
              height="15rem"
              times={now.map(({ at }) => at)}
              series={[
                { label: t('beforeSeries'), values: now.map((_, at) => before[at]?.spend ?? null), isBefore: true },
                { label: t('now'), values: now.map(({ spend }) => spend) },
              ]}
              write={(value) => shortMoney(value.toFixed(9))}
              writeTime={writeTime}
              writeAxis={(at) => (period === '1h' || period === '24h' ? shortTime(at) : dayOf(at))}
            />
          </div>
        </Panel>
        <Attention />
        <ModelsPanel report={data.models} />
        <AccountsPanel report={data.accounts} />
        <Latency data={data} />
        <TokensPanel calls={data.calls} />
      </div>
    </>
  );
}

const PARTS = 24;

function Latency({ data }: { data: Overview }) {
  const t = useWords(words);
  const { times, p50, p95 } = latencyBuckets(data.calls, PARTS);
  return (
    <Panel
      title={t('latency')}
      id="c-lat"
      width={6}
      beside={
        <div className="legend">
          <span>p50</span>
          <span style={{ '--k': 'var(--c2)' }}>p95</span>
        </div>
      }
    >
      <div className="in">
        {times.length === 0 ? (
          <p className="dim">{t('none')}</p>
        ) : (
          <Plot
            label={t('latencyLabel')}
            height="10.5rem"
            times={times}
            series={[
              { label: 'p50', values: p50 },
              { label: 'p95', values: p95 },
            ]}
            write={duration}
            writeTime={fullTime}
            writeAxis={shortTime}
          />
        )}
      </div>
    </Panel>
  );
}

function factsOf(
  data: Overview,
  buckets: readonly Bucket[],
  t: Translate<typeof words>,
  c: Translate<typeof common>,
): readonly Fact[] {
  const { total } = data.current;
  const was = data.beforeReport.total;
  const sample = sampleOf(data.calls);
  const callChange = was.calls === 0 ? undefined : ((total.calls - was.calls) / was.calls) * 100;
  const flat = (value: number | undefined) => <small className="flat">{change(value)}</small>;
  return [
    {
      label: c('spend'),
      value: (
        <>
          {shortMoney(total.cost)} {flat(changePercent(total.cost, was.cost))}
        </>
      ),
      note: t('before', { value: shortMoney(was.cost) }),
      spark: <Spark values={buckets.map(({ spend }) => spend)} />,
    },
    {
      label: c('calls'),
      value: (
        <>
          {count(total.calls)} {flat(callChange)}
        </>
      ),
      note: t('before', { value: count(was.calls) }),
      spark: <Spark values={buckets.map(({ calls }) => calls)} />,
    },
    { label: t('errorRate'), value: percent(sample.errorRate, 2), note: ' ' },
    {
      label: t('firstToken'),
      value: duration(sample.firstToken.p50),
      note: t('p95', { value: duration(sample.firstToken.p95) }),
    },
    {
      label: t('duration'),
      value: duration(sample.duration.p50),
      note: t('p95', { value: duration(sample.duration.p95) }),
    },
    {
      label: t('cacheShare'),
      value: percent(sample.cacheShare),
      note: t('savedBy', { value: shortMoney(total.saved) }),
    },
  ];
}
