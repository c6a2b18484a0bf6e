/** The form for a new channel. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { useWords } from '../../i18n/words.ts';
import { Note, Panel } from '../../parts/basic.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Field, Select } from '../../parts/form.tsx';
import { SaveRow } from '../../parts/save-row.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { words } from './words.ts';

type ChannelType = 'webhook' | 'slack' | 'email';

const START = { name: '', url: '', server: '', from: '', to: '' };

/** What is sent for the fields: those of the chosen type. */
export function channelOf(type: ChannelType, { name, url, server, from, to }: typeof START): object {
  if (type !== 'email') return { name, type, url };
  const recipients = to.split(/[,;\s，；]+/).filter((address) => address !== '');
  return { name, type, server, from, to: recipients };
}

export function NewChannel() {
  const t = useWords(words);
  const c = useWords(common);
  const client = useQueryClient();
  const saving = useSaving();
  const [type, setType] = useState<ChannelType>('webhook');
  const [values, setValues] = useState(START);
  const [secret, setSecret] = useState<string>();
  const set = (name: keyof typeof START) => (event: { target: { value: string } }) =>
    setValues({ ...values, [name]: event.target.value });
  const create = async () => {
    const body = channelOf(type, values);
    const made = await ask<{ secret?: string }>('/admin/v1/alerts/channels', { method: 'POST', body });
    setSecret(made.secret);
    setValues(START);
    await refresh(client, 'channels');
  };
  return (
    <Panel title={t('addChannel')} id="al-new">
      <form className="in form" onSubmit={saving.submit(create)} onChange={saving.touch}>
        <div className="two">
          <Select label={t('type')} value={type} onText={(value) => setType(value as ChannelType)}>
            <option value="webhook">{t('webhook')}</option>
            <option value="slack">{t('slack')}</option>
            <option value="email">{t('emailType')}</option>
          </Select>
          <Field label={c('name')} required value={values.name} onChange={set('name')} />
        </div>
        {type === 'email' ? (
          <>
            <Field
              label={t('server')}
              hint={t('serverHint')}
              required
              autoComplete="off"
              value={values.server}
              onChange={set('server')}
            />
            <div className="two">
              <Field label={t('from')} type="email" required value={values.from} onChange={set('from')} />
              <Field label={t('recipients')} required value={values.to} onChange={set('to')} />
            </div>
          </>
        ) : (
          <Field label={t('url')} type="url" required value={values.url} onChange={set('url')} />
        )}
        <SaveRow saving={saving} label={t('addChannel')} />
        {secret && (
          <>
            <Note s="ok">{t('secretOnce')}</Note>
            <div className="secret">
              <code>{secret}</code>
              <CopyButton text={secret} />
            </div>
          </>
        )}
      </form>
    </Panel>
  );
}
