/** Adding a provider in steps: its type, its key, a model with its price, a test call. Done steps fold into a line. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useProviders } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Provider } from '../../api/types.ts';
import { useWords } from '../../i18n/words.ts';
import { Icon } from '../../parts/icon.tsx';
import { Denied, Loaded } from '../../parts/states.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { KeyStep, type SavedProvider } from './key-step.tsx';
import { ModelStep } from './model-step.tsx';
import { TestStep } from './test-step.tsx';
import { type ProviderType, TYPES, typeNamed, USUAL } from './types.ts';
import { words } from './words.ts';

const route = getRouteApi('/providers/add');

/** `?provider=`: models are added to one that is there. */
export function AddProviderPage() {
  const t = useWords(words);
  const { provider: named } = route.useSearch();
  useTitle(`${t('title')} / ${t('addTitle')}`);
  const may = useMay();
  const providers = useProviders(named !== undefined);
  return (
    <main className="page narrow" id="main">
      <div className="head">
        <h1>
          <Link className="crumb" to="/providers">
            {t('title')}
          </Link>{' '}
          <span className="crumb" aria-hidden="true">
            /
          </span>{' '}
          {t('addTitle')}
        </h1>
      </div>
      {!may('supply:write') ? (
        <Denied />
      ) : named === undefined ? (
        <Steps />
      ) : (
        <Loaded of={providers}>
          {(rows) => <Steps key={named} known={rows.find(({ name }) => name === named)} />}
        </Loaded>
      )}
    </main>
  );
}

const savedOf = ({ name, credentials: [credential = ''] }: Provider): SavedProvider => ({
  name,
  last4: credential.slice(-4),
});

function Steps({ known }: { known?: Provider | undefined }) {
  const t = useWords(words);
  const [type, setType] = useState<ProviderType | undefined>(known && typeNamed(known.type));
  const [saved, setSaved] = useState<SavedProvider | undefined>(known && savedOf(known));
  const [model, setModel] = useState<string>();
  const [isAll, setAll] = useState(false);
  return (
    <ol className="steps">
      <Step no={1} title={t('stepType')} result={type?.name} {...(!saved && { onChange: () => setType(undefined) })}>
        <div className="pick" role="radiogroup" aria-label={t('pick')}>
          {(isAll ? TYPES : TYPES.slice(0, USUAL)).map((row) => (
            // biome-ignore lint/a11y/useSemanticElements: the design's picker is made of buttons
            <button
              key={row.type}
              type="button"
              role="radio"
              aria-checked={row.type === type?.type}
              onClick={() => setType(row)}
            >
              <span className="logo" aria-hidden="true">
                {row.logo}
              </span>
              {row.name}
            </button>
          ))}
        </div>
        {!isAll && (
          <div className="row">
            <button type="button" className="btn plain" onClick={() => setAll(true)}>
              {t('moreTypes', { n: TYPES.length - USUAL })}
            </button>
          </div>
        )}
      </Step>
      <Step
        no={2}
        title={t('stepKey')}
        isNext={type !== undefined}
        result={saved && (saved.last4 === '' ? saved.name : `${saved.name} · …${saved.last4}`)}
        {...(!model && !known && { onChange: () => setSaved(undefined) })}
      >
        {type && <KeyStep type={type} onSaved={setSaved} />}
      </Step>
      <Step
        no={3}
        title={t('stepModel')}
        isNext={saved !== undefined}
        result={model}
        onChange={() => setModel(undefined)}
      >
        {saved && <ModelStep provider={saved} onEnabled={setModel} />}
      </Step>
      <Step no={4} title={t('stepTest')} isNext={model !== undefined}>
        {model && <TestStep model={model} onAnother={() => setModel(undefined)} />}
      </Step>
    </ol>
  );
}

interface StepProps {
  no: number;
  title: string;
  /** The line into which a done step folds. */
  result?: string | undefined;
  isNext?: boolean;
  onChange?: () => void;
  children: ReactNode;
}

function Step({ no, title, result, isNext = true, onChange, children }: StepProps) {
  const t = useWords(words);
  const isDone = result !== undefined;
  return (
    <li>
      <span className="nr" data-s={isDone ? 'ok' : isNext ? 'now' : undefined}>
        {isDone ? (
          <>
            <Icon name="check" />
            <span className="off">{t('done')}</span>
          </>
        ) : (
          no
        )}
      </span>
      <div>
        <div className="one">
          <h2>{title}</h2>
          {isDone && <span className="dim">{result}</span>}
          {isDone && onChange && (
            <button type="button" className="link" onClick={onChange}>
              {t('change')}
            </button>
          )}
        </div>
        {!isDone && isNext && <div className="body">{children}</div>}
      </div>
    </li>
  );
}
