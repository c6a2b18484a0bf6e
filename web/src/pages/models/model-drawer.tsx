/** The drawer of a model: targets, price, history, a new price. */
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Model } from '../../api/types.ts';
import { exactMoney, readAmount } from '../../format/amounts.ts';
import { useWords } from '../../i18n/words.ts';
import { ConfirmButton } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Field } from '../../parts/form.tsx';
import { SaveRow } from '../../parts/save-row.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { PriceHistory } from './history.tsx';
import { newPrice, otherComponents, plainComponents, sampleCost } from './price.ts';
import { words } from './words.ts';

export function ModelDrawer({ model, onClose }: { model: Model; onClose: () => void }) {
  const t = useWords(words);
  const may = useMay();
  const client = useQueryClient();
  const path = `/admin/v1/models/${encodeURIComponent(model.name)}`;
  const remove = async () => {
    await ask(path, { method: 'DELETE' });
    await refresh(client, 'models', 'health', 'callable');
    onClose();
  };
  return (
    <Drawer title={model.name} sub={model.kind} onClose={onClose}>
      <Ladder model={model} />
      <PriceOf model={model} />
      {may('prices:write') && plainComponents(model.price).length > 0 && <NewPrice model={model} />}
      <PriceHistory model={model.name} />
      {may('supply:write') && (
        <section>
          <ConfirmButton
            title={t('removeTitle', { name: model.name })}
            effect={t('removeText')}
            action={t('remove')}
            name={model.name}
            onConfirm={remove}
          />
        </section>
      )}
    </Drawer>
  );
}

/** The targets as a ladder: those of a lower priority number first. */
function Ladder({ model }: { model: Model }) {
  const t = useWords(words);
  const targets = [...model.targets].sort((a, b) => a.priority - b.priority);
  return (
    <section aria-labelledby="mo-ladder">
      <h2 id="mo-ladder">{t('ladder')}</h2>
      <ol className="keys">
        {targets.map(({ provider, model: name, priority, weight }) => (
          <li key={`${provider}/${name}`}>
            <span>
              <span className="strong">{provider}</span> <span className="dim">{name}</span>
            </span>
            <span className="dimmer">
              {t('priority', { n: priority })} · {t('weight', { n: weight })}
            </span>
          </li>
        ))}
      </ol>
      <dl className="pairs" style={{ marginBlockStart: '.75rem' }}>
        {model.aliases && (
          <>
            <dt>{t('aliases')}</dt>
            <dd>{model.aliases.join(', ')}</dd>
          </>
        )}
        {model.fallbacks && (
          <>
            <dt>{t('fallbacks')}</dt>
            <dd>{model.fallbacks.map(({ model }) => model).join(' → ')}</dd>
          </>
        )}
      </dl>
      <p>
        <Link to="/calls" search={{ model: model.name }}>
          {t('calls')}
        </Link>
      </p>
    </section>
  );
}

function PriceOf({ model: { price } }: { model: Model }) {
  const t = useWords(words);
  const sample = sampleCost(price);
  return (
    <section aria-labelledby="mo-price">
      <h2 id="mo-price">{t('prices')}</h2>
      <dl className="pairs">
        {plainComponents(price).map(([component, amount]) => (
          <div key={component} style={{ display: 'contents' }}>
            <dt>{component}</dt>
            <dd>{exactMoney(amount)}</dd>
          </div>
        ))}
        {otherComponents(price).map(([component, value]) => (
          <div key={component} style={{ display: 'contents' }}>
            <dt>{component}</dt>
            <dd>
              <code>{JSON.stringify(value)}</code>
            </dd>
          </div>
        ))}
      </dl>
      {sample !== undefined && (
        <p className="dim" style={{ marginBlockStart: '.5rem' }}>
          {t('sample', { amount: exactMoney(sample) })}
        </p>
      )}
    </section>
  );
}

function NewPrice({ model }: { model: Model }) {
  const t = useWords(words);
  const client = useQueryClient();
  const saving = useSaving();
  // What is not typed follows the stored price.
  const [typed, setTyped] = useState<Record<string, string>>({});
  const fields = plainComponents(model.price).map(
    ([component, amount]) => [component, typed[component] ?? amount] as const,
  );
  const isWrong = fields.some(([, text]) => readAmount(text) === undefined);
  const save = async () => {
    const amounts = Object.fromEntries(Object.entries(typed).map(([component, text]) => [component, readAmount(text)]));
    try {
      await ask('/admin/v1/prices', { method: 'POST', body: newPrice(model, amounts) });
      setTyped({});
    } catch (thrown) {
      throw thrown instanceof ApiError && thrown.status === 409 ? new Error(t('changedMeanwhile')) : thrown;
    } finally {
      await refresh(client, 'models', 'prices');
    }
  };
  return (
    <section aria-labelledby="mo-new">
      <h2 id="mo-new">{t('newPrice')}</h2>
      <form className="form" onSubmit={saving.submit(save)} onChange={saving.touch}>
        <p className="dimmer">{t('newPriceHint')}</p>
        <div className="two">
          {fields.map(([component, text]) => (
            <Field
              key={component}
              label={component}
              inputMode="decimal"
              value={text}
              error={readAmount(text) === undefined ? t('notPrice') : undefined}
              onText={(text) => setTyped({ ...typed, [component]: text })}
            />
          ))}
        </div>
        <SaveRow saving={saving} disabled={isWrong} />
      </form>
    </section>
  );
}
