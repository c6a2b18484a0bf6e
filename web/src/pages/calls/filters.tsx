/** The filters of the list of calls. */
import { useAccounts, useKeys, useModels, useProviders } from '../../api/queries.ts';
import { isMember, useMay, useSession } from '../../api/session.ts';
import { type Translate, useWords } from '../../i18n/words.ts';
import { Chip, Chips, NamedChip } from '../../parts/chips.tsx';
import { PERIODS, withFilter } from '../../parts/filters.ts';
import { common } from '../../parts/words.ts';
import type { CallSearch } from './use-calls.ts';
import { words } from './words.ts';

interface Props {
  search: CallSearch;
  onChange: (search: CallSearch) => void;
}

const outcomesOf = (t: Translate<typeof words>) =>
  [
    ['ok', t('ok')],
    ['failed', t('outcomeFailed')],
    ['refused', t('outcomeRefused')],
    ['broken', t('broken')],
    ['aborted', t('aborted')],
    ['interrupted', t('interrupted')],
    ['disputed', t('disputed')],
  ] as const;

export function CallFilters({ search, onChange }: Props) {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const member = isMember(useSession());
  const accounts = useAccounts(may('accounts:read')).data ?? [];
  const keys = useKeys(may('keys:read') || member).data ?? [];
  const models = useModels(may('supply:read')).data;
  const providers = useProviders(may('supply:read')).data;
  const set = (name: keyof CallSearch & string) => (value: string | undefined) =>
    onChange(withFilter(search, name, value));
  const plain = (rows: readonly { name: string }[]) => rows.map(({ name }) => [name, name] as const);
  const periodText = (period: string) => t(`p${period as (typeof PERIODS)[number]}`);
  const outcomes = outcomesOf(t);
  return (
    <Chips>
      <Chip
        label={t('last')}
        value={search.period}
        options={PERIODS.map((period) => [period, periodText(period)] as const)}
        onChange={set('period')}
      />
      <Chip label={t('outcome')} value={search.outcome} options={outcomes} onChange={set('outcome')} />
      <Chip label={c('status')} value={search.status} onChange={set('status')} />
      <Chip
        label={c('model')}
        value={search.model}
        {...(models && { options: plain(models) })}
        onChange={set('model')}
      />
      {!member && <NamedChip label={c('account')} value={search.account} of={accounts} onChange={set('account')} />}
      <NamedChip label={c('key')} value={search.key} of={keys} onChange={set('key')} />
      {!member && (
        <Chip
          label={c('provider')}
          value={search.provider}
          {...(providers && { options: plain(providers) })}
          onChange={set('provider')}
        />
      )}
      <Chip label={t('error')} value={search.error} onChange={set('error')} />
      <Chip label={t('tag')} value={search.tag} onChange={set('tag')} />
      <Chip
        label={t('above')}
        value={search.cost_above}
        shown={search.cost_above && `$${search.cost_above}`}
        onChange={set('cost_above')}
      />
    </Chips>
  );
}
