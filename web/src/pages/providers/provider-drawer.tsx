/** The drawer of a provider: the health of its targets, its settings. */
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Provider, TargetHealth } from '../../api/types.ts';
import { clockTime, count, duration, percent } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Status } from '../../parts/basic.tsx';
import { ConfirmButton } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { SaveRow } from '../../parts/save-row.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { isElsewhere } from './elsewhere.ts';
import { isCooling } from './health.ts';
import { words } from './words.ts';

interface Props {
  provider: Provider;
  targets: readonly TargetHealth[];
  onClose: () => void;
}

export function ProviderDrawer({ provider, targets, onClose }: Props) {
  const t = useWords(words);
  const may = useMay();
  const client = useQueryClient();
  const remove = async () => {
    await ask(`/admin/v1/providers/${encodeURIComponent(provider.name)}`, { method: 'DELETE' });
    await refresh(client, 'providers', 'health');
    onClose();
  };
  return (
    <Drawer title={provider.name} sub={provider.type} onClose={onClose}>
      <section aria-labelledby="pr-targets">
        <h2 id="pr-targets">{t('targets')}</h2>
        {targets.length === 0 ? (
          <p className="dim">{t('unused')}</p>
        ) : (
          <ul className="keys">
            {targets.map((target) => (
              <TargetLine key={target.id} target={target} />
            ))}
          </ul>
        )}
      </section>
      {may('supply:write') && (
        <section>
          <Link className="btn" to="/providers/add" search={{ provider: provider.name }}>
            {t('addModels')}
          </Link>
        </section>
      )}
      {may('supply:write') && provider.type !== 'sandbox' && <Edit provider={provider} />}
      {may('supply:write') && (
        <section>
          <ConfirmButton
            title={t('removeTitle', { name: provider.name })}
            effect={t('removeText')}
            action={t('remove')}
            name={provider.name}
            onConfirm={remove}
          />
        </section>
      )}
    </Drawer>
  );
}

function TargetLine({ target }: { target: TargetHealth }) {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const client = useQueryClient();
  const acting = useSaving();
  const cooling = isCooling(target);
  const act = async (action: 'cooldown' | 'reset') => {
    // The id is provider/model, and a model's name may have slashes of its own: they stay.
    const id = target.id.split('/').map(encodeURIComponent).join('/');
    await ask(`/admin/v1/health/targets/${id}/${action}`, { method: 'POST', body: {} });
    await refresh(client, 'health');
  };
  return (
    <li>
      <span>
        <span className="strong">{target.model}</span>
        <br />
        <span className="dimmer">
          {t('errors')} {percent(target.errorRate, 2)} · {c('firstToken')} {duration(target.firstTokenMs)} ·{' '}
          {t('inFlight')} {count(target.inFlight)}
        </span>
      </span>
      <span className="row">
        <Status s={cooling ? 'warn' : 'ok'}>
          {cooling ? t(target.phase === 'half-open' ? 'half' : 'open') : t('closed')}
          {target.nextProbeAt && ` ${t('until', { time: clockTime(target.nextProbeAt) })}`}
        </Status>
        {may('supply:write') && (
          <button
            type="button"
            className="btn"
            aria-label={t(cooling ? 'resetOf' : 'coolDownOf', { id: target.id })}
            onClick={() => void acting.run(() => act(cooling ? 'reset' : 'cooldown'))}
          >
            {cooling ? t('reset') : t('coolDown')}
          </button>
        )}
      </span>
      <FormError error={acting.error} />
    </li>
  );
}

function Edit({ provider }: { provider: Provider }) {
  const t = useWords(words);
  const client = useQueryClient();
  const [credential, setCredential] = useState('');
  const [baseUrl, setBaseUrl] = useState(provider.baseUrl ?? '');
  const saving = useSaving();
  const isMoved = provider.credentials.length > 0 && isElsewhere(baseUrl, provider.baseUrl);
  const save = async () => {
    const { name, type, settings, concurrency, tokensPerMinute, queueMs } = provider;
    const body = {
      type,
      settings,
      ...(baseUrl !== '' && { baseUrl }),
      ...(concurrency !== undefined && { concurrency }),
      ...(tokensPerMinute !== undefined && { tokensPerMinute }),
      ...(queueMs !== undefined && { queueMs }),
      ...(credential !== '' && { credential }),
    };
    await ask(`/admin/v1/providers/${encodeURIComponent(name)}`, { method: 'PUT', body });
    await refresh(client, 'providers');
    setCredential('');
  };
  return (
    <section>
      <form className="form" onSubmit={saving.submit(save)} onChange={saving.touch}>
        <Field
          label={t('newKey')}
          hint={t(isMoved ? 'newKeyElsewhere' : 'newKeyHint')}
          required={isMoved}
          type="password"
          autoComplete="off"
          value={credential}
          onText={setCredential}
        />
        <Field label={t('baseUrl')} type="url" value={baseUrl} onText={setBaseUrl} />
        <SaveRow saving={saving} />
      </form>
    </section>
  );
}
