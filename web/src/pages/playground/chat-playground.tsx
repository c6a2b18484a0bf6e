/** The playground of chat models. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { mayMakeKeys, useMay, useSession } from '../../api/session.ts';
import { useWords } from '../../i18n/words.ts';
import { Area, Field, Select } from '../../parts/form.tsx';
import { Aside } from './aside.tsx';
import { type ChatOptions, readTools, requestOf } from './chat.ts';
import type { Frame } from './endpoints.ts';
import { FrameFields, useModelsFor } from './frame.tsx';
import { OptionsHead } from './options-head.tsx';
import { Ask, Turns } from './talk.tsx';
import { useChat } from './use-chat.ts';
import { words } from './words.ts';

const START: Omit<ChatOptions, 'model'> = { system: '', reasoning: '', maxTokens: '4096', tools: '' };

export function ChatPlayground({ frame }: { frame: Frame }) {
  const t = useWords(words);
  const models = useModelsFor(frame);
  const [options, setOptions] = useState(START);
  const [chosen, setModel] = useState<string>();
  const model = chosen !== undefined && models.includes(chosen) ? chosen : (models[0] ?? '');
  const all: ChatOptions = { ...options, model };
  const chat = useChat(frame.playgroundKey, all);
  const set = (name: keyof typeof START) => (event: { target: { value: string } }) =>
    setOptions({ ...options, [name]: event.target.value });
  const fields = (
    <FrameFields frame={frame} model={model} setModel={setModel} models={models}>
      <Area label={t('system')} rows={4} value={options.system} onChange={set('system')} />
      <Select label={t('reasoning')} value={options.reasoning} onChange={set('reasoning')}>
        <option value="">{t('unset')}</option>
        <option value="low">{t('low')}</option>
        <option value="medium">{t('medium')}</option>
        <option value="high">{t('high')}</option>
      </Select>
      <Field label={t('maxTokens')} inputMode="numeric" value={options.maxTokens} onChange={set('maxTokens')} />
      <Area
        label={t('tools')}
        rows={3}
        hint={t('toolsHint')}
        error={readTools(options.tools) === undefined ? t('toolsWrong') : undefined}
        value={options.tools}
        onChange={set('tools')}
      />
    </FrameFields>
  );
  const isReady = frame.playgroundKey !== undefined && model !== '' && readTools(options.tools) !== undefined;
  return (
    <main className="play" id="main">
      <div className="opts form">{fields}</div>
      <div className="talk">
        <OptionsHead model={model} fields={fields}>
          <button className="btn plain wide-only" type="button" onClick={chat.clear}>
            {t('clear')}
          </button>
        </OptionsHead>
        <Turns chat={chat} model={model} />
        {chat.lastCall && <NextSteps />}
        <Ask chat={chat} isReady={isReady} />
      </div>
      <Aside sent={{ path: '/v1/chat/completions', body: requestOf(chat.turns, all) }} lastCall={chat.lastCall} />
    </main>
  );
}

/** After a call: a key for the own application, or a provider. */
function NextSteps() {
  const t = useWords(words);
  const may = useMay();
  return (
    <p className="row" style={{ justifyContent: 'center' }}>
      {mayMakeKeys(useSession()) && (
        <Link to="/keys" search={{ open: 'new' }}>
          {t('nextKey')}
        </Link>
      )}
      {may('supply:write') && <Link to="/providers/add">{t('nextProvider')}</Link>}
    </p>
  );
}
