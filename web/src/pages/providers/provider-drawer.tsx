import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import type { Provider, TargetHealth } from '../../api/types.ts';
import { clockTime, count, duration, percent } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Status } from '../../parts/basic.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/states.tsx';
import { common } from '../../parts/words.ts';
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
  const [asking, setAsking] = useState(false);
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
      {may('supply:write') && provider.type !== 'sandbox' && <Edit provider={provider} />}
      {may('supply:write') && (
        <section>
          <button type="button" className="btn danger" onClick={() => setAsking(true)}>
            {t('remove')}
          </button>
        </section>
      )}
      {asking && (
        <Confirm
          title={t('removeTitle', { name: provider.name })}
          effect={t('removeText')}
          action={t('remove')}
          name={provider.name}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </Drawer>
  );
}

function TargetLine({ target }: { target: TargetHealth }) {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const client = useQueryClient();
  const [error, setError] = useState<unknown>();
  const cooling = isCooling(target);
  const act = async (action: 'cooldown' | 'reset') => {
    try {
      // The id is provider/model, and a model's name may have slashes of its own: they stay.
      await ask(`/admin/v1/health/targets/${target.id.split('/').map(encodeURIComponent).join('/')}/${action}`, {
        method: 'POST',
        body: {},
      });
      await refresh(client, 'health');
    } catch (reason) {
      setError(reason);
    }
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
            onClick={() => void act(cooling ? 'reset' : 'cooldown')}
          >
            {cooling ? t('reset') : t('coolDown')}
          </button>
        )}
      </span>
      <FormError error={error} />
    </li>
  );
}

function Edit({ provider }: { provider: Provider }) {
  const t = useWords(words);
  const c = useWords(common);
  const client = useQueryClient();
  const [credential, setCredential] = useState('');
  const [baseUrl, setBaseUrl] = useState(provider.baseUrl ?? '');
  const [error, setError] = useState<unknown>();
  const [saved, setSaved] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const { name, type, settings, concurrency, tokensPerMinute } = provider;
    const body = {
      type,
      settings,
      ...(baseUrl !== '' && { baseUrl }),
      ...(concurrency !== undefined && { concurrency }),
      ...(tokensPerMinute !== undefined && { tokensPerMinute }),
      ...(credential !== '' && { credential }),
    };
    try {
      await ask(`/admin/v1/providers/${encodeURIComponent(name)}`, { method: 'PUT', body });
      await refresh(client, 'providers');
      setCredential('');
      setError(undefined);
      setSaved(true);
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <section>
      <form className="form" onSubmit={submit} onChange={() => setSaved(false)}>
        <Field
          label={t('newKey')}
          hint={t('newKeyHint')}
          type="password"
          autoComplete="off"
          value={credential}
          onChange={(event) => setCredential(event.target.value)}
        />
        <Field label={t('baseUrl')} type="url" value={baseUrl} onChange={(event) => setBaseUrl(event.target.value)} />
        <FormError error={error} />
        <div className="row">
          <button type="submit" className="btn go">
            {c('save')}
          </button>
          <span aria-live="polite" className="dim">
            {saved && c('saved')}
          </span>
        </div>
      </form>
    </section>
  );
}
