/**
 * Dialogs are native `<dialog>` elements: the browser keeps the focus inside, makes the page behind inert, closes on Esc and gives the focus
 * back. Only for a key that is shown once, for confirmations, and for the command palette.
 */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useSession } from '../api/session.ts';
import { dictionary, useWords } from '../i18n/words.ts';
import { Field } from './form.tsx';
import { FormError } from './form-error.tsx';
import { Icon } from './icon.tsx';
import { isSameName } from './same-name.ts';
import { common } from './words.ts';

const words = dictionary({
  confirmPasskey: ['Confirm with a passkey instead', '改用通行密钥确认'],
  confirmType: ['Type {name} to confirm', '输入 {name} 以确认'],
  noMatchName: ['The name does not match yet.', '名称尚不一致。'],
});

interface ModalProps {
  label?: string;
  labelledBy?: string;
  onClose: () => void;
  children: ReactNode;
}

export function Modal({ label, labelledBy, onClose, children }: ModalProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
  }, []);
  // A second Esc without anything between closes a dialog whatever its page says: it is there until its owner takes it away.
  const reopen = () => {
    if (element.current?.isConnected) element.current.showModal();
  };
  return (
    <dialog
      ref={element}
      onClose={reopen}
      className="scrim"
      aria-label={label}
      aria-labelledby={labelledBy}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      {children}
    </dialog>
  );
}

interface DialogProps {
  title: string;
  text?: ReactNode;
  width?: string;
  onClose: () => void;
  children: ReactNode;
  foot?: ReactNode;
}

export function Dialog({ title, text, width, onClose, children, foot }: DialogProps) {
  const t = useWords(common);
  const id = useId();
  return (
    <Modal labelledBy={id} onClose={onClose}>
      <div className="dialog" style={width ? { '--w': width } : undefined}>
        <header>
          <div>
            <h2 id={id}>{title}</h2>
            {text && <p className="dim">{text}</p>}
          </div>
          <button type="button" className="btn plain icon" aria-label={t('close')} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        <div className="body">{children}</div>
        {foot && <footer>{foot}</footer>}
      </div>
    </Modal>
  );
}

interface ConfirmProps {
  title: string;
  /** What happens, and what stays. */
  effect: string;
  action: string;
  /** Typed by the person; without it a click confirms. */
  name?: string;
  mild?: { text: string; run: () => Promise<unknown> };
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** A destructive act: says the effect, offers the mild way, asks for the name of the thing or for a passkey. */
export function Confirm({ title, effect, action, name, mild, onConfirm, onClose }: ConfirmProps) {
  const t = useWords(common);
  const w = useWords(words);
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const { person, ways } = useSession();
  const isNamed = name === undefined || isSameName(typed, name);
  const run = async (act: () => Promise<unknown>) => {
    setBusy(true);
    setError(undefined);
    try {
      await act();
      onClose();
    } catch (reason) {
      setError(reason);
      setBusy(false);
    }
  };
  const foot = (
    <>
      <button type="button" className="btn danger" disabled={!isNamed || busy} onClick={() => void run(onConfirm)}>
        {action}
      </button>
      {mild && (
        <button type="button" className="btn" disabled={busy} onClick={() => void run(mild.run)}>
          {mild.text}
        </button>
      )}
      <button type="button" className="btn plain" onClick={onClose}>
        {t('cancel')}
      </button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} width="32rem" foot={foot}>
      <p>{effect}</p>
      {name !== undefined && (
        <Field
          label={w('confirmType', { name })}
          value={typed}
          onText={setTyped}
          error={typed !== '' && !isNamed ? w('noMatchName') : undefined}
          autoComplete="off"
        />
      )}
      {name !== undefined && ways.passkeys && person.passkeys > 0 && (
        <button
          type="button"
          className="btn"
          disabled={busy}
          onClick={() => void run(() => confirmByPasskey().then(onConfirm))}
        >
          <Icon name="keys" />
          {w('confirmPasskey')}
        </button>
      )}
      <FormError error={error} />
    </Dialog>
  );
}

/** A button for a destructive act, which asks first. */
export function ConfirmButton(confirm: Omit<ConfirmProps, 'onClose'>) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className="btn danger" onClick={() => setAsking(true)}>
        {confirm.action}
      </button>
      {isAsking && <Confirm {...confirm} onClose={() => setAsking(false)} />}
    </>
  );
}

async function confirmByPasskey(): Promise<void> {
  const { confirmWithPasskey } = await import('../api/passkeys.ts');
  await confirmWithPasskey();
}
