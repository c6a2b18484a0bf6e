/** What a call costs at list price, component by component. `listCharge` adds up the same figures without naming them. */
import type { Pico } from '../../canonical/money.ts';
import type { Price } from '../../canonical/price.ts';
import type { Usage } from '../../canonical/usage.ts';
import { chargedImages, chargedToolCalls, countedCalls, ratesFor, units } from './charge.ts';
import { pricePiece } from './pieces.ts';

/** `quantity` times `rate` is `amount`, in pico-USD. Seconds are counted in milliseconds. */
export interface ChargeItem {
  component: string;
  quantity: number;
  rate: Pico;
  amount: Pico;
}

const PICO_PER_NANO = 1000n;

/** The sum of the items is `listCharge` of the same usage and price, before that is rounded up. */
export function itemize(usage: Usage, price: Price): ChargeItem[] {
  const items: ChargeItem[] = [];
  const add = (component: string, quantity: number, rate: Pico) => {
    if (quantity > 0) items.push({ component, quantity, rate, amount: BigInt(quantity) * rate });
  };
  const addEach = (component: string, quantity: number, nano: bigint | undefined) => {
    if (nano !== undefined) add(component, quantity, nano * PICO_PER_NANO);
  };
  if (usage.source === 'cached') {
    addEach('perCacheHit', 1, price.perCacheHit);
    return items;
  }
  addTokens(add, usage, price);
  if (price.perCharacter !== undefined) add('perCharacter', units(usage.characters), price.perCharacter);
  if (usage.seconds) add('perSecond', units(usage.seconds * 1000), pricePiece(price.clips, price.perSecond, usage));
  if (usage.images) {
    const { quantity, rate } = chargedImages(usage, price);
    add('perImage', quantity, rate);
  }
  addEach('perInputImage', units(usage.inputImages), price.perInputImage);
  addEach('perCall', countedCalls(usage), price.perCall);
  const tools = chargedToolCalls(usage);
  if (tools > 0) {
    addEach('perToolCall', tools, price.perToolCall);
    addEach('perToolUse', 1, price.perToolUse);
  }
  if (!usage.hedge) return items;
  const other = itemize(usage.hedge.usage, price);
  return [...items, ...other.map((item) => ({ ...item, component: `hedge.${item.component}` }))];
}

function addTokens(add: (component: string, quantity: number, rate: Pico) => void, usage: Usage, price: Price): void {
  const rates = ratesFor(price, usage.largestInput ?? usage.input);
  const { input = 0n, output = 0n } = rates;
  const cacheWrite = rates.cacheWrite ?? input;
  let left = units(usage.input);
  const share = (component: string, count: number | undefined, rate: Pico) => {
    const quantity = count ? Math.min(units(count), left) : 0;
    add(component, quantity, rate);
    left -= quantity;
  };
  share('cachedInput', usage.cachedInput, rates.cachedInput ?? input);
  share('cacheWrite', usage.cacheWrite, cacheWrite);
  share('cacheWriteHour', usage.cacheWriteHour, rates.cacheWriteHour ?? cacheWrite);
  share('audioInput', usage.audioInput, rates.audioInput ?? input);
  share('imageInput', usage.imageInput, rates.imageInput ?? input);
  add('input', left, input);
  left = units(usage.output);
  share('reasoning', usage.reasoning, rates.reasoning ?? output);
  share('audioOutput', usage.audioOutput, rates.audioOutput ?? output);
  share('imageOutput', usage.imageOutput, rates.imageOutput ?? output);
  add('output', left, output);
}
