/** The turns of a chat, and the field for the next one. */
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useWords } from '../../i18n/words.ts';
import { Note, Status } from '../../parts/basic.tsx';
import { Icon } from '../../parts/icon.tsx';
import { MoreIcon } from '../../parts/more-icons.tsx';
import { Empty } from '../../parts/states.tsx';
import { type ToolCall, type Turn, waitingTools } from './chat.ts';
import type { Chat } from './use-chat.ts';
import { words } from './words.ts';

export function Turns({ chat, model }: { chat: Chat; model: string }) {
  const t = useWords(words);
  const end = useRef<HTMLDivElement>(null);
  const { turns } = chat;
  useEffect(() => {
    if (turns.length > 0) end.current?.scrollIntoView({ block: 'nearest' });
  }, [turns]);
  return (
    <div className="turns">
      <h2 className="off">{t('conversation')}</h2>
      {turns.length === 0 && <Empty icon="playground" title={t('emptyTitle')} text={t('emptyText')} />}
      {turns.map((turn, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: turns are only ever added at the end
        <OneTurn key={at} turn={turn} model={model} chat={chat} isLast={at === turns.length - 1} />
      ))}
      <div ref={end} />
    </div>
  );
}

function OneTurn({ turn, model, chat, isLast }: { turn: Turn; model: string; chat: Chat; isLast: boolean }) {
  const t = useWords(words);
  if (turn.role === 'user') {
    return (
      <div className="turn you">
        <h3>{t('you')}</h3>
        <div style={{ whiteSpace: 'pre-wrap' }}>{turn.text}</div>
      </div>
    );
  }
  const isWriting = chat.isRunning && isLast;
  return (
    <div className="turn">
      <h3>{model}</h3>
      {turn.reasoning && (
        <details className="fold">
          <summary>
            <Icon name="right" />
            <span>{t('reasoning')}</span>
            <span />
          </summary>
          <div style={{ whiteSpace: 'pre-wrap' }}>{turn.reasoning}</div>
        </details>
      )}
      {turn.toolCalls?.map((call) => (
        <Tool key={call.id} call={call} answer={(result) => chat.answerTool(call.id, result)} isRunning={isWriting} />
      ))}
      {(turn.text !== '' || isWriting) && (
        <p style={{ whiteSpace: 'pre-wrap' }}>
          {turn.text}
          {isWriting && <Caret />}
        </p>
      )}
      {turn.error && <Note s="bad">{turn.error}</Note>}
    </div>
  );
}

function Caret() {
  const style = {
    display: 'inline-block',
    width: '.5em',
    height: '1.05em',
    verticalAlign: '-.15em',
    background: 'var(--accent)',
    borderRadius: '1px',
  };
  return <span aria-hidden="true" style={style} />;
}

function Tool({ call, answer, isRunning }: { call: ToolCall; answer: (result: string) => void; isRunning: boolean }) {
  const t = useWords(words);
  const [typed, setTyped] = useState('{}');
  const isAnswered = call.result !== undefined;
  return (
    <details className="fold" open>
      <summary>
        <MoreIcon name="tool" />
        <code>{call.name}</code>
        <Status s={isAnswered ? 'ok' : 'warn'}>{isAnswered ? t('answered') : t('waitingTool')}</Status>
      </summary>
      <div className="gap">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable from the keyboard */}
        <pre className="mono" tabIndex={0} style={{ overflowX: 'auto' }}>
          {call.arguments}
          {isAnswered && `\n→ ${call.result}`}
        </pre>
        {!isAnswered && !isRunning && (
          <span className="with">
            <input
              className="in1"
              aria-label={t('answerTool', { name: call.name })}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
            <button type="button" className="btn" onClick={() => answer(typed)}>
              {t('answer')}
            </button>
          </span>
        )}
      </div>
    </details>
  );
}

export function Ask({ chat, isReady }: { chat: Chat; isReady: boolean }) {
  const t = useWords(words);
  const [text, setText] = useState('');
  const isBlocked = !isReady || waitingTools(chat.turns).length > 0;
  const submit = () => {
    if (text.trim() === '' || isBlocked || chat.isRunning) return;
    chat.say(text.trim());
    setText('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <div className="ask">
      <div>
        <label className="off" htmlFor="p-q">
          {t('message')}
        </label>
        <textarea
          id="p-q"
          rows={2}
          placeholder={t('placeholder')}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="bar">
          {chat.isRunning ? (
            <button className="btn go" type="button" onClick={chat.stop}>
              <MoreIcon name="stop" />
              {t('stop')}
            </button>
          ) : (
            <button className="btn go" type="button" disabled={isBlocked || text.trim() === ''} onClick={submit}>
              <Icon name="arrow" />
              {t('send')}
            </button>
          )}
        </div>
      </div>
    </div>
  );
}
