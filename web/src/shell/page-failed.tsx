/** What stands in the place of a page that cannot be shown. */
import { OfflineError } from '../api/client.ts';
import { useWords } from '../i18n/words.ts';
import { firstWords } from '../parts/first-words.ts';
import { Failed } from '../parts/states.tsx';
import { useTitle } from '../parts/use-title.ts';

/** A page that could not be shown: its chunk did not load, or its code failed. The menu stays. */
export function PageFailed({ error, reset }: { error: unknown; reset: () => void }) {
  const t = useWords(firstWords);
  useTitle(t('error'));
  return (
    <main className="page" id="main">
      <h1 className="off">{t('error')}</h1>
      <Failed error={error} retry={error instanceof OfflineError ? () => location.reload() : reset} />
    </main>
  );
}
