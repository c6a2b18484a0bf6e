/** What was captured of a call. Each reading is in the audit log: nothing is read before somebody asks, and nothing is read again by itself. */
import { useState } from 'react';
import { ApiError, ask } from '../../api/client.ts';
import { useWords } from '../../i18n/words.ts';
import { FormError } from '../../parts/form-error.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { words } from './words.ts';

/** `undefined`: nothing was captured, or it is not kept any more. The receipt on the page shows that the call exists. */
async function readPayload(call: string): Promise<object | undefined> {
  try {
    return await ask<object>(`/admin/v1/calls/${encodeURIComponent(call)}/payload`);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

export function Payload({ call }: { call: string }) {
  const t = useWords(words);
  const [read, setRead] = useState<{ payload: object | undefined }>();
  const reading = useSaving();
  const show = () => reading.run(async () => setRead({ payload: await readPayload(call) }));
  return (
    <section aria-labelledby="r-pay">
      <h2 id="r-pay">{t('payload')}</h2>
      {!read && (
        <>
          <p className="dim">{t('payloadAudited')}</p>
          <FormError error={reading.error} />
          <button type="button" className="btn" disabled={reading.busy} onClick={() => void show()}>
            {t('showPayload')}
          </button>
        </>
      )}
      <div aria-live="polite">
        {read && !read.payload && <p className="dim">{t('noPayload')}</p>}
        {read?.payload && (
          <div className="code">
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable from the keyboard */}
            <pre tabIndex={0}>{JSON.stringify(read.payload, null, 2)}</pre>
          </div>
        )}
      </div>
    </section>
  );
}
