/** How a call ended, as a dot and a word. */
import type { CallRow } from '../../api/types.ts';
import type { Translate } from '../../i18n/words.ts';
import type { State } from '../../parts/basic.tsx';
import type { words } from './words.ts';

type Ended = Pick<CallRow, 'outcome' | 'status'> & { attempts?: number };

export function statusOf(
  { outcome, status, attempts = 1 }: Ended,
  t: Translate<typeof words>,
): { s: State; text: string } {
  switch (outcome) {
    case 'ok':
      return attempts > 1 ? { s: 'warn', text: t('okTry', { n: attempts }) } : { s: 'ok', text: t('ok') };
    case 'failed':
      return { s: 'bad', text: t('failed', { status }) };
    case 'refused':
      return { s: 'idle', text: t('refused', { status }) };
    case 'broken':
      return { s: 'warn', text: t('broken') };
    case 'aborted':
      return { s: 'idle', text: t('aborted') };
    case 'interrupted':
      return { s: 'bad', text: t('interrupted') };
    case 'disputed':
      return { s: 'warn', text: t('disputed') };
    default:
      return { s: 'idle', text: outcome };
  }
}

/** All tokens of a call: cached ones are part of the input, reasoning is part of the output. */
export function tokensOf({ usage }: Pick<CallRow, 'usage'>): number | undefined {
  if (!usage) return undefined;
  return (usage.input ?? 0) + (usage.output ?? 0);
}
