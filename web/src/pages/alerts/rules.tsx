import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { exactMoney } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { Panel, Status } from '../../parts/basic.tsx';
import { useSaving } from '../../parts/saving.tsx';
import { FormError, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';
import { words } from './words.ts';

interface Rule {
  rule: string;
  summary: string;
  severity: string;
  enabled: boolean;
  thresholds?: number[];
  below?: string;
}

export function Rules() {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const client = useQueryClient();
  const acting = useSaving();
  const rules = useQuery({
    queryKey: ['rules'],
    queryFn: () => ask<{ data: Rule[] }>('/admin/v1/alerts/rules').then(({ data }) => data),
  });
  const toggle = async ({ rule, enabled }: Rule) => {
    await ask(`/admin/v1/alerts/rules/${rule}`, { method: 'PATCH', body: { enabled: !enabled } });
    await refresh(client, 'rules');
  };
  const columns: Column<Rule>[] = [
    {
      id: 'rule',
      head: t('rule'),
      cell: ({ rule, summary }) => (
        <>
          <span className="strong">{rule}</span>
          <span className="sub">{summary}</span>
        </>
      ),
    },
    {
      id: 'at',
      head: t('threshold'),
      drop: 'p1',
      dim: true,
      cell: ({ thresholds, below }) =>
        thresholds?.map((percent) => `${percent}%`).join(', ') ?? (below && `< ${exactMoney(below)}`),
    },
    {
      id: 'status',
      head: c('status'),
      cell: ({ enabled }) => <Status s={enabled ? 'ok' : 'idle'}>{enabled ? t('on') : t('off')}</Status>,
    },
    {
      id: 'act',
      head: <span className="off">{c('actions')}</span>,
      num: true,
      cell: (row) =>
        may('alerts:write') && (
          <button
            type="button"
            className="btn"
            aria-label={t(row.enabled ? 'turnOff' : 'turnOn', { name: row.rule })}
            onClick={() => void acting.run(() => toggle(row))}
          >
            {row.enabled ? c('disable') : c('enable')}
          </button>
        ),
    },
  ];
  return (
    <Panel title={t('rules')} id="al-rules">
      <FormError error={acting.error} />
      <Loaded of={rules}>
        {(rows) => <Table label={t('rules')} columns={columns} rows={rows} rowKey={({ rule }) => rule} />}
      </Loaded>
    </Panel>
  );
}
