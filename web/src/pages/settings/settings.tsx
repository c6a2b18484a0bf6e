/** Settings in force, each with where it comes from. Read only: they are environment variables and the file. */
import { useState } from 'react';
import { useRows } from '../../api/queries.ts';
import { dictionary, useWords } from '../../i18n/words.ts';
import { Page, Status } from '../../parts/basic.tsx';
import { SearchField } from '../../parts/fields.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { common } from '../../parts/words.ts';

const words = dictionary({
  title: ['Settings', '设置'],
  list: ['Settings in force', '生效的设置'],
  find: ['Find a setting', '查找设置'],
  value: ['Value', '值'],
  source: ['Source', '来源'],
  secret: ['hidden', '已隐藏'],
  unset: ['not set', '未设置'],
  default: ['Default', '默认'],
  environment: ['Environment', '环境变量'],
  file: ['File', '文件'],
  none: ['No setting has this name', '没有此名称的设置'],
  how: [
    'Settings are environment variables; a secret can be in a file. A change needs a restart.',
    '设置来自环境变量，密钥也可来自文件。修改后需重启。',
  ],
});

interface Setting {
  name: string;
  /** Absent for secrets, and if it is not set. */
  value?: string;
  source: 'default' | 'environment' | 'file';
  isSecret: boolean;
  isSet: boolean;
}

export function SettingsPage() {
  const t = useWords(words);
  const [typed, setTyped] = useState('');
  const settings = useRows<Setting>('settings', '/admin/v1/settings');
  return (
    <Page title={t('title')} actions={<SearchField label={t('find')} value={typed} onText={setTyped} />}>
      <p className="dim">{t('how')}</p>
      <section className="panel" aria-label={t('list')}>
        <Loaded of={settings} bones={10}>
          {(rows) => (
            <SettingTable rows={rows.filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase()))} />
          )}
        </Loaded>
      </section>
    </Page>
  );
}

function SettingTable({ rows }: { rows: readonly Setting[] }) {
  const t = useWords(words);
  const c = useWords(common);
  if (rows.length === 0) return <Empty icon="search" title={t('none')} />;
  const shownValue = ({ value, isSet }: Setting) => {
    if (value !== undefined) return <code>{value}</code>;
    return <span className="dimmer">{isSet ? t('secret') : t('unset')}</span>;
  };
  const columns: Column<Setting>[] = [
    { id: 'name', head: c('name'), className: 'mono', cell: ({ name }) => name },
    { id: 'value', head: t('value'), cell: shownValue },
    {
      id: 'source',
      head: t('source'),
      drop: 'p1',
      cell: ({ source }) => <Status s={source === 'default' ? 'idle' : 'ok'}>{t(source)}</Status>,
    },
  ];
  return <Table label={t('list')} columns={columns} rows={rows} rowKey={({ name }) => name} />;
}
