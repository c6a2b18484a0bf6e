/** The API reference, rendered from this gateway's own `/openapi.json`. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { baseUrlOf, useSession } from '../../api/session.ts';
import { dictionary, useWords } from '../../i18n/words.ts';
import { Page } from '../../parts/basic.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { SearchField } from '../../parts/fields.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { common } from '../../parts/words.ts';
import { type Entry, entriesOf, type OpenApi } from './openapi.ts';

const words = dictionary({
  title: ['API reference', 'API 文档'],
  base: ['Base URL', '接口地址'],
  find: ['Find an endpoint', '查找接口'],
  members: ['Members of the request', '请求成员'],
  type: ['Type', '类型'],
  required: ['required', '必填'],
  none: ['No endpoint matches', '没有匹配的接口'],
  noMembers: ['It takes no members.', '无请求成员。'],
  original: [
    'The clients and formats of OpenAI, Anthropic and Google work as they are: change their base URL and key.',
    'OpenAI、Anthropic、Google 的客户端与格式可直接使用：只需更换接口地址和令牌。',
  ],
});

export function ReferencePage() {
  const t = useWords(words);
  const session = useSession();
  const [typed, setTyped] = useState('');
  const api = useQuery({
    queryKey: ['openapi'],
    queryFn: () => ask<OpenApi>('/openapi.json').then(entriesOf),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const base = baseUrlOf(session);
  return (
    <Page title={t('title')} actions={<SearchField label={t('find')} value={typed} onText={setTyped} />}>
      <p className="dim">{t('original')}</p>
      <div className="secret">
        <code>{base}/v1</code>
        <CopyButton text={`${base}/v1`} />
      </div>
      <Loaded of={api} bones={10}>
        {(entries) => (
          <Groups
            entries={entries.filter(({ path, text }) =>
              `${path} ${text}`.toLowerCase().includes(typed.trim().toLowerCase()),
            )}
          />
        )}
      </Loaded>
    </Page>
  );
}

function Groups({ entries }: { entries: readonly Entry[] }) {
  const t = useWords(words);
  if (entries.length === 0) return <Empty icon="search" title={t('none')} />;
  const tags = [...new Set(entries.map(({ tag }) => tag))];
  return tags.map((tag) => (
    <section className="panel" key={tag} aria-label={tag}>
      <header>
        <h2>{tag}</h2>
      </header>
      <div className="in">
        {entries
          .filter((entry) => entry.tag === tag)
          .map((entry) => (
            <details className="fold" key={entry.id}>
              <summary>
                <Icon name="right" />
                <code>
                  {entry.method} {entry.path}
                </code>
              </summary>
              <Members entry={entry} />
            </details>
          ))}
      </div>
    </section>
  ));
}

function Members({ entry }: { entry: Entry }) {
  const t = useWords(words);
  const c = useWords(common);
  return (
    <div className="gap">
      {entry.text && <p>{entry.text}</p>}
      {entry.members.length === 0 ? (
        <p className="dimmer">{t('noMembers')}</p>
      ) : (
        <table className="mini" aria-label={t('members')}>
          <thead>
            <tr>
              <th>{c('name')}</th>
              <th>{t('type')}</th>
            </tr>
          </thead>
          <tbody>
            {entry.members.map(({ name, type, isRequired, description }) => (
              <tr key={name}>
                <td>
                  <code>{name}</code> {isRequired && <span className="tag">{t('required')}</span>}
                  {description && (
                    <span className="dimmer" style={{ display: 'block' }}>
                      {description}
                    </span>
                  )}
                </td>
                <td className="dim">{type}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
