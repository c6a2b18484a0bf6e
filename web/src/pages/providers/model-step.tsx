/** Adding a provider: its models and their prices. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh, useModels } from '../../api/queries.ts';
import type { FoundList, FoundModel } from '../../api/types.ts';
import { readAmount } from '../../format/amounts.ts';
import { useWords } from '../../i18n/words.ts';
import { Note } from '../../parts/basic.tsx';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { Bones } from '../../parts/states.tsx';
import { bodyOf, testable, withTarget } from './found.ts';
import { FoundModels } from './found-models.tsx';
import type { SavedProvider } from './key-step.tsx';
import { words } from './words.ts';

interface PriceTexts {
  input: string;
  output: string;
  cached: string;
}

/** The price of a model that is new; undefined while a field is wrong. */
function writePrice({ input, output, cached }: PriceTexts): Record<string, string> | undefined {
  const price = { input: readAmount(input), output: readAmount(output) };
  if (price.input === undefined || price.output === undefined) return undefined;
  const written = { input: price.input, output: price.output };
  if (cached === '') return written;
  const cachedInput = readAmount(cached);
  return cachedInput === undefined ? undefined : { ...written, cachedInput };
}

function PriceFields({ texts, onChange }: { texts: PriceTexts; onChange: (texts: PriceTexts) => void }) {
  const t = useWords(words);
  return (
    <div className="two">
      {(['input', 'output', 'cached'] as const).map((name) => (
        <Field
          key={name}
          label={t(name)}
          inputMode="decimal"
          required={name !== 'cached'}
          value={texts[name]}
          error={texts[name] !== '' && readAmount(texts[name]) === undefined ? t('notPrice') : undefined}
          onChange={(event) => onChange({ ...texts, [name]: event.target.value })}
        />
      ))}
    </div>
  );
}

interface Props {
  provider: SavedProvider;
  onEnabled: (model: string) => void;
}

/** The models that the provider lists to choose from; a name can always be typed, also while the provider is asked. */
export function ModelStep({ provider: { name: provider, list }, onEnabled }: Props) {
  const t = useWords(words);
  const client = useQueryClient();
  const models = useModels();
  const found = useQuery({
    queryKey: ['found-models', provider],
    queryFn: () => ask<FoundList>('/admin/v1/providers/found-models', { method: 'POST', body: { provider } }),
    ...(list && { initialData: list }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const known = models.data ?? [];
  const enable = async (chosen: readonly FoundModel[]) => {
    setBusy(true);
    setError(undefined);
    try {
      for (const model of chosen) {
        const body = bodyOf(model, provider, known);
        await ask(`/admin/v1/models/${encodeURIComponent(model.id)}`, { method: 'PUT', body });
      }
      onEnabled(testable(chosen));
    } catch (reason) {
      setError(reason);
    } finally {
      await refresh(client, 'models', 'health', 'callable');
      setBusy(false);
    }
  };
  const hasList = found.data !== undefined && found.data.data.length > 0;
  return (
    <div className="form">
      {found.isPending && <Asking />}
      {found.error && <Note s="warn">{t('noList')}</Note>}
      {found.data?.problem && (
        <Note s="warn">
          {t(found.data.problem.code === 'credential_refused' ? 'refusedKey' : 'noList')}{' '}
          <span lang="en">{found.data.problem.message}</span>
        </Note>
      )}
      {hasList && models.data && (
        <FoundModels
          provider={provider}
          list={found.data}
          models={models.data}
          busy={busy}
          onEnable={(chosen) => void enable(chosen)}
          onPrice={setTyped}
        />
      )}
      <FormError error={error} />
      <Typing isOpen={!hasList || typed !== ''}>
        <TypedModel key={typed} provider={provider} first={typed} onEnabled={onEnabled} />
      </Typing>
    </div>
  );
}

/** While the provider is asked, which takes up to eight seconds if it does not answer. */
function Asking() {
  const t = useWords(words);
  return (
    <>
      <p className="dim" role="status">
        {t('asking')}
      </p>
      <Bones rows={3} />
    </>
  );
}

function Typing({ isOpen, children }: { isOpen: boolean; children: ReactNode }) {
  const t = useWords(words);
  const [isWanted, setWanted] = useState(false);
  const id = useId();
  const shown = isOpen || isWanted;
  if (shown) return <div id={id}>{children}</div>;
  return (
    <div className="row">
      <button type="button" className="btn plain" onClick={() => setWanted(true)}>
        {t('typeName')}
      </button>
    </div>
  );
}

function TypedModel({
  provider,
  first,
  onEnabled,
}: {
  provider: string;
  first: string;
  onEnabled: Props['onEnabled'];
}) {
  const t = useWords(words);
  const client = useQueryClient();
  const models = useModels();
  const [target, setTarget] = useState(first);
  const [given, setGiven] = useState('');
  const [price, setPrice] = useState<PriceTexts>({ input: '', output: '', cached: '' });
  const [error, setError] = useState<unknown>();
  const name = given === '' ? target : given;
  const known = models.data?.find((model) => model.name === name);
  const written = writePrice(price);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const body = known
      ? withTarget(known, { provider, model: target })
      : { price: written, targets: [{ provider, model: target }] };
    try {
      await ask(`/admin/v1/models/${encodeURIComponent(name)}`, { method: 'PUT', body });
      await refresh(client, 'models', 'health', 'callable');
      onEnabled(name);
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <form className="form" onSubmit={submit} aria-label={t('typeName')}>
      <div className="two">
        <Field
          label={t('model')}
          hint={t('modelHint')}
          required
          // What somebody has chosen in the list goes on here.
          autoFocus={first !== ''}
          value={target}
          onText={setTarget}
        />
        <Field label={t('public')} value={given} placeholder={target} onText={setGiven} />
      </div>
      {known ? <Note>{t('adds', { name })}</Note> : <PriceFields texts={price} onChange={setPrice} />}
      <FormError error={error} />
      <div className="row">
        <button type="submit" className="btn go" disabled={!known && !written}>
          {t('enable')}
        </button>
      </div>
    </form>
  );
}
