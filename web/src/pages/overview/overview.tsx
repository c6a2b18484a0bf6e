/** Overview: what the gateway did in a period, beside the period before, and what needs somebody. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { Overview } from '../../api/types.ts';
import { changePercent, shortMoney } from '../../format/money.ts';
import { change, count, duration, percent } from '../../format/numbers.ts';
import { type Translate, useWords } from '../../i18n/words.ts';
import { type Fact, Figures, Page, Panel, Segments, Status } from '../../parts/basic.tsx';
import { PERIODS, type Period, readPeriod } from '../../parts/filters.ts';
import { firstWords } from '../../parts/first-words.ts';
import { Plot, Spark } from '../../parts/plot.tsx';
import { Loaded } from '../../parts/states.tsx';
import { Attention } from './attention.tsx';
import { type Step, stepsOf, type TimeWriting, writingOf } from './sums.ts';
import { AccountsPanel, KeysPanel, ModelsPanel, TokensPanel } from './tables.tsx';
import { useOverview } from './use-overview.ts';
import { words } from './words.ts';

const route = getRouteApi('/');

export function OverviewPage() {
  const t = useWords(words);
  const navigate = useNavigate();
  const period = readPeriod(route.useSearch().period, '24h');
  const overview = useOverview(period);
  return (
    <Page
      title={t('title')}
      beside={overview.data && !overview.error && <Status s="live">{t('live')}</Status>}
      actions={
        <Segments<Period>
          label={t('period')}
          value={period}
          options={PERIODS.map((value) => [value, t(`p${value}`)] as const)}
          onChange={(value) => void navigate({ to: '/', search: { period: value } })}
        />
      }
    >
      <Loaded of={overview} bones={8}>
        {(data) => <Body data={data} period={period} />}
      </Loaded>
    </Page>
  );
}

function Body({ data, period }: { data: Overview; period: Period }) {
  const t = useWords(words);
  const c = useWords(firstWords);
  const steps = stepsOf(data);
  const times = steps.map(({ at }) => at);
  const writing = writingOf(data.stepSeconds, period);
  return (
    <>
      <Figures facts={factsOf(data, steps, t, c)} />
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
              times={times}
              series={[
                { label: t('beforeSeries'), values: steps.map(({ before }) => before), isBefore: true },
                { label: t('now'), values: steps.map(({ spend }) => spend) },
              ]}
              write={(value) => shortMoney(value.toFixed(9))}
              {...writing}
            />
          </div>
        </Panel>
        <Attention holds={data.holds} />
        <ModelsPanel models={data.models} />
        <AccountsPanel accounts={data.accounts} />
        <KeysPanel keys={data.keys} />
        <TokensPanel figures={data.current} />
        <Latency steps={steps} writing={writing} />
      </div>
    </>
  );
}

interface LatencyProps {
  steps: readonly Step[];
  writing: TimeWriting;
}

function Latency({ steps, writing }: LatencyProps) {
  const t = useWords(words);
  return (
    <Panel
      title={t('latency')}
      id="c-lat"
      beside={
        <div className="legend">
          <span>p50</span>
          <span style={{ '--k': 'var(--c2)' }}>p95</span>
        </div>
      }
    >
      <div className="in">
        {steps.every(({ p50 }) => p50 === null) ? (
          <p className="dim">{t('none')}</p>
        ) : (
          <Plot
            label={t('latencyLabel')}
            height="10.5rem"
            times={steps.map(({ at }) => at)}
            series={[
              { label: 'p50', values: steps.map(({ p50 }) => p50) },
              { label: 'p95', values: steps.map(({ p95 }) => p95) },
            ]}
            write={duration}
            {...writing}
          />
        )}
      </div>
    </Panel>
  );
}

function factsOf(
  { current, previous }: Overview,
  steps: readonly Step[],
  t: Translate<typeof words>,
  c: Translate<typeof firstWords>,
): readonly Fact[] {
  const callChange = previous.calls === 0 ? undefined : ((current.calls - previous.calls) / previous.calls) * 100;
  const flat = (value: number | undefined) => <small className="flat">{change(value)}</small>;
  return [
    {
      label: c('spend'),
      value: (
        <>
          {shortMoney(current.spend)} {flat(changePercent(current.spend, previous.spend))}
        </>
      ),
      note: t('before', { value: shortMoney(previous.spend) }),
      spark: <Spark values={steps.map(({ spend }) => spend)} />,
    },
    {
      label: c('calls'),
      value: (
        <>
          {count(current.calls)} {flat(callChange)}
        </>
      ),
      note: t('before', { value: count(previous.calls) }),
      spark: <Spark values={steps.map(({ calls }) => calls)} />,
    },
    {
      label: t('errorRate'),
      value: percent(current.errorRate, 2),
      note: t('before', { value: percent(previous.errorRate, 2) }),
    },
    {
      label: t('firstToken'),
      value: duration(current.firstTokenMs?.p50),
      note: t('p95', { value: duration(current.firstTokenMs?.p95) }),
    },
    {
      label: t('duration'),
      value: duration(current.durationMs?.p50),
      note: t('p95', { value: duration(current.durationMs?.p95) }),
    },
    {
      label: t('cacheShare'),
      value: percent(current.cacheShare),
      note: t('savedBy', { value: shortMoney(current.saved) }),
    },
  ];
}
