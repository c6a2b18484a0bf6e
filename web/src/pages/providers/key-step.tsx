/** Adding a provider: its key. */
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import type { FoundList, Provider } from '../../api/types.ts';
import { useWords } from '../../i18n/words.ts';
import { Note } from '../../parts/basic.tsx';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/form-error.tsx';
import type { ProviderType } from './types.ts';
import { words } from './words.ts';

export interface SavedProvider {
  name: string;
  last4: string;
  /** What it listed when its key was checked. */
  list?: FoundList;
}

/** The key is checked before it is saved, by asking for the list of models. A key that is refused is saved by a second click alone. */
export function KeyStep({ type, onSaved }: { type: ProviderType; onSaved: (saved: SavedProvider) => void }) {
  const t = useWords(words);
  const client = useQueryClient();
  const [name, setName] = useState(type.type);
  const [credential, setCredential] = useState('');
  const [baseUrl, setBaseUrl] = useState('');
  const [settings, setSettings] = useState<Record<string, string>>({});
  const [refused, setRefused] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const save = async () => {
    const body = {
      type: type.type,
      ...(credential !== '' && { credential }),
      ...(baseUrl !== '' && { baseUrl }),
      ...(Object.values(settings).some(Boolean) && { settings }),
    };
    const list = refused === undefined ? await ask<FoundList>(LISTS, { method: 'POST', body }) : undefined;
    if (list?.problem?.code === 'credential_refused') return setRefused(list.problem.message);
    await ask<Provider>(`/admin/v1/providers/${encodeURIComponent(name)}`, { method: 'PUT', body });
    await refresh(client, 'providers', 'health');
    onSaved({ name, last4: credential.slice(-4), ...(list && { list }) });
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await save();
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="form" onSubmit={submit} onChange={() => setRefused(undefined)}>
      <Field label={t('name')} hint={t('nameHint')} required pattern="[\w.\-]+" value={name} onText={setName} />
      {(type.needsUrl || baseUrl !== '') && (
        <Field
          label={t('baseUrl')}
          type="url"
          required={type.isUrlYours}
          placeholder="http://127.0.0.1:8000/v1"
          value={baseUrl}
          onText={setBaseUrl}
        />
      )}
      {type.settings?.map((setting) => {
        const name = setting.replace('?', '') as 'region' | 'project' | 'location';
        return (
          <Field
            key={name}
            label={t(name)}
            required={name === setting}
            value={settings[name] ?? ''}
            onText={(text) => setSettings({ ...settings, [name]: text })}
          />
        );
      })}
      <Field
        label={t('key')}
        hint={type.keyHint ? t(type.keyHint) : type.isKeyless ? t('keyless') : t('keyHint')}
        type="password"
        autoComplete="off"
        required={!type.isKeyless}
        value={credential}
        onText={setCredential}
      />
      {refused !== undefined && (
        <Note s="bad">
          {t('refusedKey')} <span lang="en">{refused}</span>
        </Note>
      )}
      <FormError error={error} />
      <div className="row">
        <button type="submit" className="btn go" disabled={busy}>
          {t(refused === undefined ? 'continue' : 'saveAnyway')}
        </button>
        <span aria-live="polite" className="dim">
          {busy && t('checking')}
        </span>
      </div>
    </form>
  );
}

const LISTS = '/admin/v1/providers/found-models';
