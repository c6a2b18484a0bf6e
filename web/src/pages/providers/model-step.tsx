import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh, useModels } from '../../api/queries.ts';
import type { Model } from '../../api/types.ts';
import { readAmount } from '../../format/money.ts';
import { useWords } from '../../i18n/words.ts';
import { Note } from '../../parts/basic.tsx';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/states.tsx';
import { words } from './words.ts';

/** The body for a model that gets one more target: what it has stays, the new target is tried after it. */
export function withTarget(known: Model, target: { provider: string; model: string }): object {
  const { name: _name, priceId: _price, createdAt: _at, ...rest } = known;
  const last = Math.max(...known.targets.map(({ priority }) => priority));
  return { ...rest, targets: [...known.targets, { ...target, priority: last + 1 }] };
}

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

export function ModelStep({ provider, onEnabled }: { provider: string; onEnabled: (model: string) => void }) {
  const t = useWords(words);
  const client = useQueryClient();
  const models = useModels();
  const [target, setTarget] = useState('');
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
    <form className="form" onSubmit={submit}>
      <div className="two">
        <Field
          label={t('model')}
          hint={t('modelHint')}
          required
          value={target}
          onChange={(event) => setTarget(event.target.value)}
        />
        <Field
          label={t('public')}
          value={given}
          placeholder={target}
          onChange={(event) => setGiven(event.target.value)}
        />
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
