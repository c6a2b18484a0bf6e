/** Pages for an unknown address and for a page that could not be shown. */
import { Link } from '@tanstack/react-router';
import { dictionary, useWords } from '../i18n/words.ts';
import { Empty } from '../parts/states.tsx';
import { useTitle } from '../parts/use-title.ts';

const words = dictionary({
  notFound: ['There is no such page', '页面不存在'],
});

export function NotFound() {
  const t = useWords(words);
  useTitle(t('notFound'));
  return (
    <main className="page" id="main">
      <h1 className="off">{t('notFound')}</h1>
      <Empty icon="search" title={t('notFound')}>
        <Link className="btn" to="/">
          Modelport
        </Link>
      </Empty>
    </main>
  );
}
