/** Adding a provider: a call that tests it. */
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ApiError, ask } from '../../api/client.ts';
import type { Receipt } from '../../api/types.ts';
import { exactMoney } from '../../format/amounts.ts';
import { count, duration } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Figures, Status } from '../../parts/basic.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { common } from '../../parts/words.ts';
import { type PlaygroundKey, sendAs } from '../playground/use-playground.ts';
import { words } from './words.ts';

const PROMPT = 'Reply with the word ready.';
const TRIES = 10;
const WAIT_MS = 300;

interface Answer {
  text: string;
  receipt: Receipt;
}

/** A real call, charged to the account of the playground: it shows the answer, its latency and its cost. */
async function testCall(model: string): Promise<Answer> {
  const { key } = await ask<PlaygroundKey>('/console/api/playground', { method: 'POST', body: {} });
  const body = { model, max_completion_tokens: 64, messages: [{ role: 'user', content: PROMPT }] };
  const response = await sendAs(key, '/v1/chat/completions', { method: 'POST', body });
  const id = response.headers.get('x-request-id') ?? '';
  const { choices } = (await response.json()) as { choices: { message: { content: string | null } }[] };
  return { text: choices[0]?.message.content ?? '', receipt: await filedReceipt(id) };
}

/** A call is filed a moment after its answer ended. */
async function filedReceipt(id: string): Promise<Receipt> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask<Receipt>(`/admin/v1/calls/${encodeURIComponent(id)}`);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404 || tries === TRIES) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
}

export function TestStep({ model, onAnother }: { model: string; onAnother: () => void }) {
  const t = useWords(words);
  const c = useWords(common);
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => testCall(model) });
  return (
    <div className="form">
      <p>{t('enabledModel', { name: model })}</p>
      <div className="row">
        <button type="button" className="btn go" disabled={isPending} onClick={() => mutate()}>
          {data || error ? t('again') : t('run')}
        </button>
        {data && <Status s="ok">{t('works')}</Status>}
        {error && <Status s="bad">{t('failed')}</Status>}
      </div>
      <FormError error={error} />
      {data && (
        <>
          <Figures
            facts={[
              { label: c('firstToken'), value: duration(data.receipt.firstByteMs) },
              { label: c('duration'), value: duration(data.receipt.durationMs) },
              { label: c('cost'), value: exactMoney(data.receipt.cost) },
              {
                label: c('tokens'),
                value: count((data.receipt.usage?.input ?? 0) + (data.receipt.usage?.output ?? 0)),
              },
            ]}
          />
          <div className="code">
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable from the keyboard */}
            <pre tabIndex={0}>{`→ ${PROMPT}\n← ${data.text}`}</pre>
          </div>
        </>
      )}
      <div className="row">
        <button type="button" className="btn" onClick={onAnother}>
          {t('another')}
        </button>
        <Link className="btn plain" to="/providers">
          {t('finish')}
        </Link>
      </div>
    </div>
  );
}
