/** Registering oneself: an address, then a link by mail, then name and password. */
import { useState } from 'react';
import { ask } from '../../api/client.ts';
import { exactMoney } from '../../format/amounts.ts';
import { currentLanguage } from '../../i18n/language.ts';
import { dictionary, useWords } from '../../i18n/words.ts';
import { Note } from '../../parts/basic.tsx';
import { Field } from '../../parts/form.tsx';
import { GateBox, GateForm, NewPassword } from '../../parts/gate.tsx';
import { useSaving } from '../../parts/use-saving.ts';

const words = dictionary({
  register: ['Create an account', '注册账户'],
  registerCredit: ['Create an account with {credit} of credit', '注册账户，获赠 {credit} 额度'],
  title: ['Create an account', '注册账户'],
  text: ['We send you a link. It shows that the address is yours.', '我们会向您发送一个链接，用于确认邮箱属于您。'],
  email: ['Email', '邮箱'],
  send: ['Send me the link', '发送链接'],
  sent: [
    'Look into the mailbox of {email}. The link is valid for 48 hours.',
    '请查收 {email} 的邮件，链接 48 小时内有效。',
  ],
  back: ['Back to sign-in', '返回登录'],
  confirmTitle: ['Choose a password', '设置密码'],
  confirmText: ['Your address is confirmed.', '您的邮箱已确认。'],
  name: ['Name', '姓名'],
  password: ['Password', '密码'],
  rule: ['At least 12 characters.', '至少 12 个字符。'],
  open: ['Open the account', '开通账户'],
});

/** Leads from the sign-in page to the registration. */
export function RegisterLink({ credit, onOpen }: { credit: string | null | undefined; onOpen: () => void }) {
  const t = useWords(words);
  return (
    <button className="btn plain wide" type="button" onClick={onOpen}>
      {credit ? t('registerCredit', { credit: exactMoney(credit) }) : t('register')}
    </button>
  );
}

export function RegisterBox({ onBack }: { onBack: () => void }) {
  const t = useWords(words);
  const [email, setEmail] = useState('');
  const [sentTo, setSentTo] = useState<string>();
  const saving = useSaving();
  const send = async () => {
    await ask('/console/api/register', { method: 'POST', body: { email, language: currentLanguage() } });
    setSentTo(email);
  };
  return (
    <GateBox title={t('title')} text={t('text')}>
      {sentTo === undefined ? (
        <GateForm saving={saving} onSubmit={send} label={t('send')}>
          <Field
            label={t('email')}
            type="email"
            autoComplete="email"
            required
            autoFocus
            value={email}
            onText={setEmail}
          />
        </GateForm>
      ) : (
        <div role="status">
          <Note s="ok">{t('sent', { email: sentTo })}</Note>
        </div>
      )}
      <button className="btn plain wide" type="button" onClick={onBack}>
        {t('back')}
      </button>
    </GateBox>
  );
}

export function ConfirmBox({ token, onDone }: { token: string; onDone: () => void }) {
  const t = useWords(words);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const saving = useSaving();
  const confirm = async () => {
    await ask('/console/api/register/confirm', { method: 'POST', body: { token, name, password } });
    onDone();
  };
  return (
    <GateBox title={t('confirmTitle')} text={t('confirmText')}>
      <GateForm saving={saving} onSubmit={confirm} label={t('open')}>
        <Field label={t('name')} autoComplete="name" required autoFocus maxLength={200} value={name} onText={setName} />
        <NewPassword label={t('password')} hint={t('rule')} value={password} onText={setPassword} />
      </GateForm>
    </GateBox>
  );
}
