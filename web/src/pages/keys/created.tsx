/** The only time that a key is shown: with lines for the usual clients, until it was copied. */
import { useQuery } from '@tanstack/react-query';
import { Link, useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import { ask, withQuery } from '../../api/client.ts';
import { useModels, useOwnPath } from '../../api/queries.ts';
import { baseUrlOf, isMember, maySpend, useSession } from '../../api/session.ts';
import type { CallRow, Key, Page } from '../../api/types.ts';
import { useWords } from '../../i18n/words.ts';
import { Note, Status } from '../../parts/basic.tsx';
import { copyText, copyWords } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { MoreIcon } from '../../parts/more-icons.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { common } from '../../parts/words.ts';
import { isChatName } from '../playground/kinds.ts';
import { useCallable, usePlaygroundKey } from '../playground/use-playground.ts';
import { CLIENTS, type Client, linesFor, modelFor, shortKey } from './lines.ts';
import { words } from './words.ts';

export type CreatedKey = Key & { key: string };

const POLL_MS = 2000;

export function CreatedDialog({ created, onClose }: { created: CreatedKey; onClose: () => void }) {
  const t = useWords(words);
  const c = useWords(common);
  const copyWord = useWords(copyWords);
  const session = useSession();
  const [client, setClient] = useState<Client>('curl');
  const [copied, setCopied] = useState(false);
  const [warned, setWarned] = useState(false);
  const model = modelFor(created.models, useChatModels());
  const call = useFirstCall(created.id);
  // Whoever calls with it has it.
  const isKept = copied || call !== undefined;
  // Links of the dialog, the back button and closing the window lose the key as well.
  useBlocker({
    shouldBlockFn: () => {
      setWarned(true);
      return !isKept && !warned;
    },
    enableBeforeUnload: () => !isKept,
  });
  const copy = async (text: string) => ((await copyText(text)) ? setCopied(true) : setWarned(true));
  const close = () => (isKept || warned ? onClose() : setWarned(true));
  const foot = (
    <>
      <span style={{ marginInlineEnd: 'auto' }}>
        <FirstCall call={call} />
      </span>
      <Link className="btn" to="/playground">
        {c('playground')}
      </Link>
      <button type="button" className="btn" onClick={close}>
        {warned && !isKept ? t('closeAnyway') : t('done')}
      </button>
    </>
  );
  return (
    <Dialog
      title={t('createdTitle', { name: created.name })}
      text={t('once')}
      width="42rem"
      onClose={close}
      foot={foot}
    >
      <div className="secret">
        <code>{created.key}</code>
        <button type="button" className="btn go" onClick={() => void copy(created.key)}>
          {copied ? <Icon name="check" /> : <MoreIcon name="copy" />}
          <span aria-live="polite">{copied ? copyWord('copied') : t('copyKey')}</span>
        </button>
      </div>
      {warned && !isKept && <Note s="warn">{t('notCopied')}</Note>}
      <div>
        <h3 style={{ marginBlockEnd: '.5rem' }}>{t('use')}</h3>
        <Tabs label={t('client')} panel="d-code" tabs={CLIENTS} value={client} onChange={setClient} />
      </div>
      <div className="code" id="d-code" role="tabpanel" aria-label={client}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable from the keyboard */}
        <pre tabIndex={0}>{linesFor(client, shortKey(created.key), baseUrlOf(session), model)}</pre>
        <button
          type="button"
          className="btn"
          onClick={() => void copy(linesFor(client, created.key, baseUrlOf(session), model))}
        >
          <MoreIcon name="copy" />
          {copyWord('copy')}
        </button>
      </div>
      <p className="dimmer" style={{ marginBlockStart: '-.5rem' }}>
        {t('whole')}
      </p>
    </Dialog>
  );
}

/** Members may not read the catalogue: they ask what their account may call. */
function useChatModels(): readonly string[] {
  const me = useSession();
  const member = isMember(me);
  const models = useModels(me.permissions.includes('supply:read'));
  const key = usePlaygroundKey(me.account?.id, member && maySpend(me));
  const callable = useCallable(key.data?.key);
  if (member) return (callable.data ?? []).filter(isChatName);
  return (models.data ?? []).filter(({ kind }) => kind === 'chat').map(({ name }) => name);
}

function useFirstCall(keyId: string): CallRow | undefined {
  const path = useOwnPath('/admin/v1/calls', '/calls');
  const calls = useQuery({
    queryKey: ['first-call', keyId],
    queryFn: () => ask<Page<CallRow>>(withQuery(path, { key: keyId, limit: 1 })),
    refetchInterval: ({ state }) => (state.data?.data.length ? false : POLL_MS),
  });
  return calls.data?.data[0];
}

function FirstCall({ call }: { call: CallRow | undefined }) {
  const t = useWords(words);
  if (!call) return <Status s="live">{t('waiting')}</Status>;
  return (
    <>
      <Status s="ok">{t('arrived')}</Status>{' '}
      <Link to="/calls" search={{ call: call.id }}>
        {t('receipt')}
      </Link>
    </>
  );
}
