/** The drawer that invites a person, and the link that it makes. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh, useAccounts } from '../../api/queries.ts';
import { baseUrlOf, type Person, useMay, useSession } from '../../api/session.ts';
import { useWords } from '../../i18n/words.ts';
import { Note } from '../../parts/basic.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { NamedSelect } from '../../parts/fields.tsx';
import { Field, Select } from '../../parts/form.tsx';
import { SaveRow } from '../../parts/save-row.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { words } from './words.ts';

const ROLES = ['owner', 'operator', 'finance', 'support', 'member'] as const satisfies readonly Person['role'][];

/** `path` begins with `/console/`; its fragment is the one-time token. */
export interface LoginLink {
  path: string;
  expiresAt: string;
}

export function Invite({ onClose }: { onClose: () => void }) {
  const t = useWords(words);
  const c = useWords(common);
  const may = useMay();
  const session = useSession();
  const accounts = useAccounts(may('accounts:read')).data ?? [];
  const client = useQueryClient();
  const saving = useSaving();
  const [role, setRole] = useState<Person['role']>('member');
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [account, setAccount] = useState<string>();
  const [link, setLink] = useState<string>();
  const charged = account ?? accounts[0]?.id;
  const create = async () => {
    const accounts = role === 'member' && charged ? [charged] : [];
    const body = { name, role, accounts, ...(email !== '' && { email }) };
    const made = await ask<{ link: LoginLink }>('/admin/v1/people', { method: 'POST', body });
    setLink(baseUrlOf(session) + made.link.path);
    setName('');
    setEmail('');
    await refresh(client, 'people');
  };
  return (
    <Drawer title={t('inviteTitle')} onClose={onClose}>
      <section>
        <form className="form" onSubmit={saving.submit(create)}>
          <p className="dim">{t('inviteHint')}</p>
          <RoleSelect role={role} onChange={setRole} />
          <Field label={c('name')} required value={name} onText={setName} />
          <Field label={t('email')} type="email" value={email} onText={setEmail} />
          {role === 'member' && <NamedSelect label={c('account')} value={charged} of={accounts} onText={setAccount} />}
          <SaveRow saving={saving} label={t('makeLink')} />
        </form>
        {link && <ShownLink link={link} />}
      </section>
    </Drawer>
  );
}

export function RoleSelect({ role, onChange }: { role: Person['role']; onChange: (role: Person['role']) => void }) {
  const t = useWords(words);
  return (
    <Select
      label={t('role')}
      hint={t(`${role}Is`)}
      value={role}
      onText={(chosen) => onChange(chosen as Person['role'])}
    >
      {ROLES.map((name) => (
        <option key={name} value={name}>
          {t(name)}
        </option>
      ))}
    </Select>
  );
}

export function ShownLink({ link }: { link: string }) {
  const t = useWords(words);
  return (
    <div className="gap" style={{ marginBlockStart: '1rem' }}>
      <Note s="ok">{t('linkOnce')}</Note>
      <div className="secret">
        <code>{link}</code>
        <CopyButton text={link} />
      </div>
    </div>
  );
}
