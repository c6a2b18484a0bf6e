import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import type { Provider } from '../../api/types.ts';
import { useWords } from '../../i18n/words.ts';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/states.tsx';
import type { ProviderType } from './types.ts';
import { words } from './words.ts';

export interface SavedProvider {
  name: string;
  last4: string;
}

export function KeyStep({ type, onSaved }: { type: ProviderType; onSaved: (saved: SavedProvider) => void }) {
  const t = useWords(words);
  const client = useQueryClient();
  const [name, setName] = useState(type.type);
  const [credential, setCredential] = useState('');
  const [baseUrl, setBaseUrl] = useState('');
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const body = { type: type.type, ...(credential !== '' && { credential }), ...(baseUrl !== '' && { baseUrl }) };
      await ask<Provider>(`/admin/v1/providers/${encodeURIComponent(name)}`, { method: 'PUT', body });
      await refresh(client, 'providers', 'health');
      onSaved({ name, last4: credential.slice(-4) });
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <form className="form" onSubmit={submit}>
      <Field
        label={t('name')}
        hint={t('nameHint')}
        required
        pattern="[\w.\-]+"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      {(type.needsUrl || baseUrl !== '') && (
        <Field
          label={t('baseUrl')}
          type="url"
          required={type.type === 'openai-compatible'}
          placeholder="http://127.0.0.1:8000/v1"
          value={baseUrl}
          onChange={(event) => setBaseUrl(event.target.value)}
        />
      )}
      <Field
        label={t('key')}
        hint={type.isKeyless ? t('keyless') : t('keyHint')}
        type="password"
        autoComplete="off"
        required={!type.isKeyless}
        value={credential}
        onChange={(event) => setCredential(event.target.value)}
      />
      <FormError error={error} />
      <div className="row">
        <button type="submit" className="btn go">
          {t('continue')}
        </button>
      </div>
    </form>
  );
}
