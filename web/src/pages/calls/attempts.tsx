/** The attempts of a call on a time line, and the order of its targets. */
import type { Attempt, Receipt } from '../../api/types.ts';
import { duration } from '../../format/numbers.ts';
import { useWords } from '../../i18n/words.ts';
import { Status } from '../../parts/basic.tsx';
import { Icon } from '../../parts/icon.tsx';
import { words } from './words.ts';

interface Bar {
  from: number;
  length: number;
  colour: string;
}

/** The bars of one attempt in percent of the call: waiting until the first token, then streaming; one red bar where it failed. */
export function barsOf({ startedMs, firstTokenMs, durationMs = 0, outcome }: Attempt, wholeMs: number): readonly Bar[] {
  const share = (ms: number) => (wholeMs <= 0 ? 0 : Math.min(100, (ms / wholeMs) * 100));
  const from = share(startedMs);
  if (outcome === 'failed') return [{ from, length: share(durationMs), colour: 'var(--dot-bad)' }];
  const waited = Math.min(firstTokenMs === undefined ? durationMs : firstTokenMs, durationMs);
  return [
    { from, length: share(waited), colour: 'var(--before)' },
    { from: from + share(waited), length: share(durationMs - waited), colour: 'var(--c1)' },
  ];
}

const TICKS = 4;

export function Attempts({ receipt }: { receipt: Receipt }) {
  const t = useWords(words);
  const { attempts, durationMs } = receipt;
  return (
    <section aria-labelledby="r-att">
      <div className="hd">
        <h2 id="r-att">{t('attempts')}</h2>
        <span className="legend">
          <span style={{ '--k': 'var(--before)' }}>{t('waiting')}</span>
          <span>{t('streaming')}</span>
          <span style={{ '--k': 'var(--dot-bad)' }}>{t('failedBar')}</span>
        </span>
      </div>
      {attempts.length === 0 ? (
        <p className="dim">{t('noAttempts')}</p>
      ) : (
        <ol style={{ display: 'grid', gap: '.625rem' }}>
          {attempts.map((attempt, at) => (
            <AttemptLine
              key={`${attempt.target} ${attempt.startedMs}`}
              attempt={attempt}
              no={at + 1}
              wholeMs={durationMs}
            />
          ))}
          <li className="line axis dimmer" style={{ font: 'var(--t-11)', fontWeight: 400 }} aria-hidden="true">
            <span />
            <span style={{ display: 'flex', justifyContent: 'space-between' }}>
              {Array.from({ length: TICKS + 1 }, (_, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: ticks of an axis
                <span key={at}>{duration((durationMs * at) / TICKS)}</span>
              ))}
            </span>
            <span />
          </li>
        </ol>
      )}
    </section>
  );
}

function AttemptLine({ attempt, no, wholeMs }: { attempt: Attempt; no: number; wholeMs: number }) {
  const t = useWords(words);
  const { outcome, status, error, credential } = attempt;
  const s = outcome === 'ok' ? 'ok' : outcome === 'failed' ? 'bad' : 'idle';
  const word = outcome === 'ok' ? t('ok') : outcome === 'failed' ? (error?.code ?? t('failedBar')) : t('cancelled');
  const name = attempt.target ?? attempt.provider ?? '–';
  return (
    <li className="line">
      <span className="no">
        <span className="dimmer">{no}</span>
        <span className="cut">
          <span className="strong">{credential ? `${name} · ${t('credential', { last4: credential })}` : name}</span>
          <br />
          <Status s={s}>{status === undefined ? word : `${status} ${word}`}</Status>
        </span>
      </span>
      <span className="track" aria-hidden="true">
        {barsOf(attempt, wholeMs).map(({ from, length, colour }) => (
          <i key={colour} style={{ '--a': `${from}%`, '--b': `${length}%`, '--k': colour }} />
        ))}
      </span>
      <span className="num dim">{duration(attempt.durationMs)}</span>
    </li>
  );
}

/** The targets in the order in which they were tried, each with its reason, as the gateway wrote them. */
export function Why({ route }: { route: readonly string[] }) {
  const t = useWords(words);
  return (
    <section aria-labelledby="r-why">
      <h2 id="r-why">{t('why')}</h2>
      <ol className="why">
        {route.map((line) => (
          <li key={line}>
            <Icon name={/\b(no |cooling|excluded|skipped)/.test(line) ? 'close' : 'arrow'} />
            <span>{line}</span>
            <span />
          </li>
        ))}
      </ol>
    </section>
  );
}
