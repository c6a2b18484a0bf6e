/** What a call cost: usage times price, and the entries of its money. */
import type { Receipt } from '../../api/types.ts';
import { exactMoney, multiplyMoney, subtractMoney, sumMoney } from '../../format/amounts.ts';
import { clockTime, count } from '../../format/numbers.ts';
import { type Translate, useWords } from '../../i18n/words.ts';
import { useEntryKind } from '../../parts/entry-kind.ts';
import { common } from '../../parts/words.ts';
import { words } from './words.ts';

const MILLION = 1_000_000;
const TOKEN_KINDS = new Set(['input', 'cachedInput', 'cacheWrite', 'cacheWriteHour', 'output', 'reasoning']);

const isToken = (component: string) =>
  TOKEN_KINDS.has(component) || /^(input|output|cached|audio|image|text)/i.test(component);

function componentName(component: string, t: Translate<typeof words>): string {
  switch (component) {
    case 'input':
    case 'cachedInput':
    case 'cacheWrite':
    case 'output':
    case 'reasoning':
      return t(component);
    default:
      return component;
  }
}

/** Usage times price; the lines add up to the cost. */
export function UsageTimesPrice({ receipt }: { receipt: Receipt }) {
  const t = useWords(words);
  const c = useWords(common);
  const { charge, usage, saved } = receipt;
  if (charge.length === 0) {
    return (
      <section aria-labelledby="r-use">
        <h2 id="r-use">{t('usagePrice')}</h2>
        <p className="dim">{t('noCharge')}</p>
      </section>
    );
  }
  const total = sumMoney(charge.map(({ amount }) => amount));
  return (
    <section aria-labelledby="r-use">
      <h2 id="r-use">{t('usagePrice')}</h2>
      <table className="mini">
        <thead>
          <tr>
            <th>{t('kind')}</th>
            <th className="num">{t('quantity')}</th>
            <th className="num">{charge.every(({ component }) => isToken(component)) ? t('perMillion') : t('rate')}</th>
            <th className="num">{c('cost')}</th>
          </tr>
        </thead>
        <tbody>
          {charge.map(({ component, quantity, rate, amount }) => (
            <tr key={component}>
              <td>{componentName(component, t)}</td>
              <td className="num">{count(quantity)}</td>
              <td className="num dim">{exactMoney(isToken(component) ? multiplyMoney(rate, MILLION) : rate)}</td>
              <td className="num">{exactMoney(amount)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td>{t('total')}</td>
            <td />
            <td />
            <td className="num">{exactMoney(total)}</td>
          </tr>
        </tfoot>
      </table>
      <p className="dimmer" style={{ marginBlockStart: '.5rem' }}>
        {usage?.source === 'reported' ? t('reported') : t('estimated')}
        {saved !== undefined && ` ${t('savedLine', { amount: exactMoney(saved) })}`}
      </p>
    </section>
  );
}

const MINUS = '−';
const signed = (amount: string) =>
  amount.startsWith('-') ? exactMoney(amount) : `+${exactMoney(amount)}`.replace(`+${MINUS}`, MINUS);

/** Hold, charge with its entry, release of the rest. */
export function Money({ receipt }: { receipt: Receipt }) {
  const t = useWords(words);
  const c = useWords(common);
  const kindOf = useEntryKind();
  const { hold, cost, entries = [] } = receipt;
  if (hold === undefined && entries.length === 0) return null;
  return (
    <section aria-labelledby="r-led">
      <h2 id="r-led">{t('money')}</h2>
      <table className="mini">
        <thead>
          <tr>
            <th>{t('step')}</th>
            <th className="num">{c('amount')}</th>
            <th className="num">{c('balance')}</th>
          </tr>
        </thead>
        <tbody>
          {hold !== undefined && <Step name={t('hold')} amount={exactMoney(hold)} balance={t('notChanged')} />}
          {entries.map((entry) => (
            <Step
              key={entry.seq}
              name={`${kindOf(entry.kind)} · ${t('entry', { n: count(entry.seq) })}`}
              at={entry.at}
              amount={signed(entry.amount)}
              balance={exactMoney(entry.balanceAfter)}
            />
          ))}
          {hold !== undefined && (
            <Step name={t('release')} amount={exactMoney(subtractMoney(hold, cost))} balance={t('notChanged')} />
          )}
        </tbody>
      </table>
    </section>
  );
}

function Step({ name, at, amount, balance }: { name: string; at?: string; amount: string; balance: string }) {
  return (
    <tr>
      <td>
        {name}
        {at && (
          <>
            <br />
            <span className="dimmer">{clockTime(at)}</span>
          </>
        )}
      </td>
      <td className="num">{amount}</td>
      <td className="num dim">{balance}</td>
    </tr>
  );
}
