/** The playground: every endpoint, with the request as code and the receipt of the last call. */
import { useState } from 'react';
import { useAccounts } from '../../api/queries.ts';
import { maySpend, useMay, useSession } from '../../api/session.ts';
import { useWords } from '../../i18n/words.ts';
import { Head } from '../../parts/basic.tsx';
import { Empty, Failed } from '../../parts/states.tsx';
import { ChatPlayground } from './chat-playground.tsx';
import type { Endpoint, Frame } from './endpoints.ts';
import { FormPlayground } from './form-playground.tsx';
import { useCallable, usePlaygroundKey } from './use-playground.ts';
import { words } from './words.ts';

export function PlaygroundPage() {
  const t = useWords(words);
  const session = useSession();
  const may = useMay();
  const [endpoint, setEndpoint] = useState<Endpoint>('chat');
  const [chosen, setAccount] = useState<string>();
  // Who may not make keys of other accounts has the own ones alone.
  const isAny = may('keys:write');
  const accounts = useAccounts(isAny && may('accounts:read')).data ?? session.accounts;
  const account = chosen ?? session.account?.id ?? accounts[0]?.id;
  const key = usePlaygroundKey(account, maySpend(session));
  const models = useCallable(key.data?.key);
  if (!maySpend(session)) {
    return (
      <main className="page" id="main">
        <Head title={t('title')} />
        <Empty icon="playground" title={t('noAccount')} />
      </main>
    );
  }
  const error = key.error ?? models.error;
  if (error) {
    return (
      <main className="page" id="main">
        <Head title={t('title')} />
        <Failed error={error} retry={() => void key.refetch()} />
      </main>
    );
  }
  const frame: Frame = {
    endpoint,
    setEndpoint,
    playgroundKey: key.data?.key,
    models: models.data ?? [],
    hasModels: models.data !== undefined,
    account,
    accounts,
    setAccount,
  };
  return endpoint === 'chat' ? <ChatPlayground frame={frame} /> : <FormPlayground key={endpoint} frame={frame} />;
}
