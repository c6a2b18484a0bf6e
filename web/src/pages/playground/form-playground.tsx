/** The endpoints that take one request and give one result. */
import { useState } from 'react';
import { useWords } from '../../i18n/words.ts';
import { FormError } from '../../parts/form-error.tsx';
import { Empty } from '../../parts/states.tsx';
import { Aside } from './aside.tsx';
import type { Frame } from './endpoints.ts';
import { FormFields, type FormValues, requestFor, START_VALUES } from './forms.tsx';
import { FrameFields, useModelsFor } from './frame.tsx';
import { OptionsHead } from './options-head.tsx';
import { type Outcome, ResultView, runRequest } from './results.tsx';
import { words } from './words.ts';

export function FormPlayground({ frame }: { frame: Frame }) {
  const t = useWords(words);
  const models = useModelsFor(frame);
  const [chosen, setModel] = useState<string>();
  const [values, setValues] = useState<FormValues>(START_VALUES);
  const [outcome, setOutcome] = useState<Outcome>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const model = chosen !== undefined && models.includes(chosen) ? chosen : (models[0] ?? '');
  const request = requestFor(frame.endpoint, model, values);
  const run = async () => {
    if (!frame.playgroundKey) return;
    setBusy(true);
    setError(undefined);
    try {
      setOutcome(await runRequest(frame.endpoint, frame.playgroundKey, request, values));
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  const fields = (
    <FrameFields frame={frame} model={model} setModel={setModel} models={models}>
      <FormFields endpoint={frame.endpoint} values={values} onChange={setValues} />
    </FrameFields>
  );
  return (
    <main className="play" id="main">
      <div className="opts form">{fields}</div>
      <div className="talk">
        <OptionsHead model={model} fields={fields} />
        <div className="turns" aria-live="polite">
          <h2 className="off">{t('result')}</h2>
          {model === '' && frame.hasModels && <Empty title={t('noModels')} />}
          <FormError error={error} />
          {outcome ? (
            <ResultView outcome={outcome} values={values} />
          ) : (
            !error && model !== '' && <p className="dim">{t('noResult')}</p>
          )}
        </div>
        <div className="ask">
          <div>
            <div className="bar">
              <button
                type="button"
                className="btn go"
                disabled={busy || model === '' || !frame.playgroundKey}
                onClick={run}
              >
                {busy ? t('running') : t('run')}
              </button>
            </div>
          </div>
        </div>
      </div>
      <Aside sent={request} lastCall={outcome?.callId} />
    </main>
  );
}
