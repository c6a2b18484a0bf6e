/** The drawer of a person: name, role, accounts, links, disabling. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { refresh } from '../../api/queries.ts';
import { baseUrlOf, type Person, useMay, useSession } from '../../api/session.ts';
import { useWords } from '../../i18n/words.ts';
import { Note } from '../../parts/basic.tsx';
import { ConfirmButton } from '../../parts/dialog.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Field } from '../../parts/form.tsx';
import { FormError } from '../../parts/form-error.tsx';
import { SaveRow } from '../../parts/save-row.tsx';
import { useSaving } from '../../parts/use-saving.ts';
import { common } from '../../parts/words.ts';
import { type LoginLink, RoleSelect, ShownLink } from './invite.tsx';
import { words } from './words.ts';

export interface PersonRow {
  id: string;
  name: string;
  email: string | null;
  role: Person['role'];
  accounts: string[];
  createdAt: string;
  seenAt: string | null;
  disabledAt?: string;
  hasPassword: boolean;
  hasTotp: boolean;
  passkeys: number;
  oidc: boolean;
}

export function PersonDrawer({ person, onClose }: { person: PersonRow; onClose: () => void }) {
  const may = useMay();
  return (
    <Drawer title={person.name} sub={person.id} onClose={onClose}>
      {may('people:write') ? <Edit person={person} onClose={onClose} /> : <section>{person.email}</section>}
    </Drawer>
  );
}

function Edit({ person, onClose }: { person: PersonRow; onClose: () => void }) {
  const c = useWords(common);
  const client = useQueryClient();
  const saving = useSaving();
  const path = `/admin/v1/people/${encodeURIComponent(person.id)}`;
  const [name, setName] = useState(person.name);
  const [role, setRole] = useState(person.role);
  const save = async () => {
    await ask(path, { method: 'PATCH', body: { name, role } });
    await refresh(client, 'people');
  };
  return (
    <>
      <section>
        <form className="form" onSubmit={saving.submit(save)} onChange={saving.touch}>
          <Field label={c('name')} required value={name} onText={setName} />
          <RoleSelect role={role} onChange={setRole} />
          <SaveRow saving={saving} />
        </form>
      </section>
      <Acts person={person} path={path} onClose={onClose} />
    </>
  );
}

function Acts({ person, path, onClose }: { person: PersonRow; path: string; onClose: () => void }) {
  const t = useWords(words);
  const c = useWords(common);
  const client = useQueryClient();
  const session = useSession();
  const acting = useSaving();
  const [link, setLink] = useState<string>();
  const [ended, setEnded] = useState(false);
  const post = async (action: string) => {
    await ask(`${path}/${action}`, { method: 'POST', body: {} });
    await refresh(client, 'people');
  };
  const makeLink = async () => {
    const made = await ask<LoginLink>(`${path}/login-link`, { method: 'POST', body: {} });
    setLink(baseUrlOf(session) + made.path);
  };
  const remove = async () => {
    await ask(path, { method: 'DELETE' });
    await refresh(client, 'people');
    onClose();
  };
  return (
    <section>
      <div className="row">
        <button type="button" className="btn" onClick={() => void acting.run(makeLink)}>
          {t('loginLink')}
        </button>
        <button
          type="button"
          className="btn"
          onClick={() => void acting.run(() => post('sign-out').then(() => setEnded(true)))}
        >
          {t('signOut')}
        </button>
        <button
          type="button"
          className="btn"
          onClick={() => void acting.run(() => post(person.disabledAt ? 'enable' : 'disable'))}
        >
          {person.disabledAt ? c('enable') : c('disable')}
        </button>
        <ConfirmButton
          title={t('removeTitle', { name: person.name })}
          effect={t('removeText')}
          action={t('remove')}
          name={person.name}
          mild={{ text: t('disableInstead'), run: () => post('disable') }}
          onConfirm={remove}
        />
      </div>
      <FormError error={acting.error} />
      {ended && <Note s="ok">{t('ended')}</Note>}
      {link && <ShownLink link={link} />}
    </section>
  );
}
