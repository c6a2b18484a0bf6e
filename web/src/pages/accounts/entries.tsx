/** The latest entries of an account. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ask, withQuery } from '../../api/client.ts';
import type { Entry, Page } from '../../api/types.ts';
import { exactMoney } from '../../format/amounts.ts';
import { fullTime } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { useEntryKind } from '../../parts/entry-kind.ts';
import { Loaded } from '../../parts/states.tsx';
import { common } from '../../parts/words.ts';
import { words } from './words.ts';

const SHOWN = 12;

export function Entries({ path }: { path: string }) {
  const t = useWords(words);
  const c = useWords(common);
  const kindOf = useEntryKind();
  const entries = useQuery({
    queryKey: ['entries', path],
    queryFn: () => ask<Page<Entry>>(withQuery(`${path}/entries`, { order: 'desc', limit: SHOWN })),
  });
  return (
    <section aria-labelledby="a-ent">
      <h2 id="a-ent">{t('entries')}</h2>
      <Loaded of={entries} bones={4}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="dim">{t('noEntries')}</p>
          ) : (
            <table className="mini">
              <thead>
                <tr>
                  <th>{t('entry')}</th>
                  <th className="num">{c('amount')}</th>
                  <th className="num">{c('balance')}</th>
                </tr>
              </thead>
              <tbody>
                {data.map((entry) => (
                  <tr key={entry.seq}>
                    <td>
                      {entry.callId ? (
                        <Link to="/calls" search={{ call: entry.callId }}>
                          {kindOf(entry.kind)}
                        </Link>
                      ) : (
                        kindOf(entry.kind)
                      )}{' '}
                      <span className="dimmer">{entry.note}</span>
                      <br />
                      <time className="dimmer" dateTime={entry.at}>
                        {fullTime(entry.at)}
                      </time>
                    </td>
                    <td className="num">{exactMoney(entry.amount)}</td>
                    <td className="num dim">{exactMoney(entry.balanceAfter)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </section>
  );
}
