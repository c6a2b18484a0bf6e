/** Pages for an unknown address and for a page that could not be shown. */
import { Link } from '@tanstack/react-router';
import { OfflineError } from '../api/client.ts';
import { dictionary, useWords } from '../i18n/words.ts';
import { Empty, Failed } from '../parts/states.tsx';
import { common } from '../parts/words.ts';

const words = dictionary({
  notFound: ['There is no such page', '页面不存在'],
});

export function NotFound() {
  const t = useWords(words);
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

/** A page that could not be shown: its chunk did not load, or its code failed. The menu stays. */
export function PageFailed({ error, reset }: { error: unknown; reset: () => void }) {
  const t = useWords(common);
  return (
    <main className="page" id="main">
      <h1 className="off">{t('error')}</h1>
      <Failed error={error} retry={error instanceof OfflineError ? () => location.reload() : reset} />
    </main>
  );
}
