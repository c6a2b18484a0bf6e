/** The rules of alerts, each of which can be turned off. */
import { useQueryClient } from '@tanstack/react-query';
import { ask } from '../../api/client.ts';
import { refresh, useRows } from '../../api/queries.ts';
import { exactMoney } from '../../format/amounts.ts';
import { useWords } from '../../i18n/words.ts';
import { Panel, Status } from '../../parts/basic.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { useActionsColumn } from './actions-column.tsx';
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
  const client = useQueryClient();
  const acting = useSaving();
  const rules = useRows<Rule>('rules', '/admin/v1/alerts/rules');
  const toggle = async ({ rule, enabled }: Rule) => {
    await ask(`/admin/v1/alerts/rules/${rule}`, { method: 'PATCH', body: { enabled: !enabled } });
    await refresh(client, 'rules');
  };
  const actions = useActionsColumn<Rule>((row) => (
    <button
      type="button"
      className="btn"
      aria-label={t(row.enabled ? 'turnOff' : 'turnOn', { name: row.rule })}
      onClick={() => void acting.run(() => toggle(row))}
    >
      {row.enabled ? c('disable') : c('enable')}
    </button>
  ));
  const columns: Column<Rule>[] = [
    {
      id: 'rule',
      head: t('rule'),
      cell: ({ rule }) => <span className="strong">{rule}</span>,
      sub: ({ summary }) => summary,
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
    actions,
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
