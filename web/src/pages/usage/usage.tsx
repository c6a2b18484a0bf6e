/** A member's usage by day and model. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { UsageGroup } from '../../api/types.ts';
import { shortMoney } from '../../format/money.ts';
import { count, tokens } from '../../format/numbers.ts';
import { dictionary, useWords } from '../../i18n/words.ts';
import { Page, Segments } from '../../parts/basic.tsx';
import { downloadCsv } from '../../parts/csv.ts';
import { ExportButton } from '../../parts/export-button.tsx';
import { readPeriod } from '../../parts/filters.ts';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { useOwnUsage } from '../home/use-home.ts';

const words = dictionary({
  title: ['Usage', '用量'],
  by: ['By', '按'],
  day: ['Day (UTC)', '日期（UTC）'],
  period: ['Period', '时间范围'],
  p7d: ['7 d', '7 天'],
  p30d: ['30 d', '30 天'],
  p90d: ['90 d', '90 天'],
  list: ['Usage', '用量'],
  input: ['Input', '输入'],
  output: ['Output', '输出'],
  total: ['Total', '合计'],
  emptyTitle: ['No calls in this period', '此时间范围内无调用'],
});

const GROUPS = ['day', 'model', 'key'] as const;
type Group = (typeof GROUPS)[number];
const CHOICES = ['7d', '30d', '90d'] as const;
type Choice = (typeof CHOICES)[number];

const route = getRouteApi('/usage');

function exportUsage(group: Group, rows: readonly UsageGroup[]): void {
  const head = [group, 'calls', 'input_tokens', 'output_tokens', 'cost'];
  const lines = rows.map((row) => [row.group, row.calls, row.input_tokens, row.output_tokens, row.cost]);
  downloadCsv('usage.csv', [head, ...lines]);
}

export function UsagePage() {
  const t = useWords(words);
  const c = useWords(common);
  const navigate = useNavigate();
  const search = route.useSearch();
  const group = GROUPS.find((name) => name === search.tab) ?? 'day';
  const asked = readPeriod(search.period, '30d');
  const period = CHOICES.find((choice) => choice === asked) ?? '30d';
  const usage = useOwnUsage(group, period);
  const groupWords = { day: t('day'), model: c('model'), key: c('key') };
  const go = (next: { tab: Group; period: Choice }) => void navigate({ to: '/usage', search: next });
  const columns: Column<UsageGroup>[] = [
    { id: 'group', head: groupWords[group], className: 'strong', cell: (row) => row.group },
    { id: 'calls', head: c('calls'), num: true, cell: ({ calls }) => count(calls) },
    {
      id: 'input',
      head: t('input'),
      drop: 'p1',
      num: true,
      dim: true,
      cell: ({ input_tokens }) => tokens(input_tokens),
    },
    {
      id: 'output',
      head: t('output'),
      drop: 'p1',
      num: true,
      dim: true,
      cell: ({ output_tokens }) => tokens(output_tokens),
    },
    { id: 'spend', head: c('spend'), num: true, cell: ({ cost }) => shortMoney(cost) },
  ];
  return (
    <Page
      title={t('title')}
      actions={
        <>
          <Segments<Group>
            label={t('by')}
            value={group}
            options={GROUPS.map((name) => [name, groupWords[name]] as const)}
            onChange={(tab) => go({ tab, period })}
          />
          <Segments<Choice>
            label={t('period')}
            value={period}
            options={CHOICES.map((name) => [name, t(`p${name}`)] as const)}
            onChange={(next) => go({ tab: group, period: next })}
          />
        </>
      }
    >
      {usage.data && (
        <p className="row">
          <ExportButton onClick={() => exportUsage(group, usage.data.data)} />
        </p>
      )}
      <section className="panel" aria-label={t('list')}>
        <Loaded of={usage}>
          {({ data, total }) =>
            data.length === 0 ? (
              <Empty icon="models" title={t('emptyTitle')} />
            ) : (
              <Table
                label={t('list')}
                columns={columns}
                rows={group === 'day' ? [...data].reverse() : data}
                rowKey={({ group }) => group}
                foot={
                  <tr>
                    <td>{t('total')}</td>
                    <td className="num">{count(total.calls)}</td>
                    <td className="num p1">{tokens(total.input_tokens)}</td>
                    <td className="num p1">{tokens(total.output_tokens)}</td>
                    <td className="num">{shortMoney(total.cost)}</td>
                  </tr>
                }
              />
            )
          }
        </Loaded>
      </section>
    </Page>
  );
}
