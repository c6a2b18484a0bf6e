/**
 * List prices of well-known models, so that a provider's key is enough to use them: prices.json, in the form of price-schema.ts. They are
 * the public prices, without warranty. Providers change them; operators set their own in modelport.yaml or by the admin API. Surcharges for
 * priority processing and regions are not included.
 */
import type { PriceFile } from './price-schema.ts';
import prices from './prices.json';

/** `npm run check` validates the file; the start does not. */
export const PRICE_LIST: PriceFile = prices;

/** Providers of these types, named after the types, with their well-known models, in the form of modelport.yaml. */
export function listedCatalogue(types: readonly string[]) {
  const models = PRICE_LIST.models
    .filter(({ type }) => types.includes(type))
    .map(({ type, model, kind, price, maxOutputTokens, contextTokens }) => ({
      name: model,
      kind,
      price: listedPrice(PRICE_LIST, { type, model, kind, price }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(contextTokens !== undefined && { contextTokens }),
      targets: [{ provider: type }],
    }));
  return { providers: types.map((type) => ({ name: type, type })), models };
}

/** The price of a row, with that of its provider's tools, in the form of modelport.yaml. */
export function listedPrice(
  file: PriceFile,
  { type, model, kind, price }: Pick<PriceFile['models'][number], 'type' | 'model' | 'kind' | 'price'>,
) {
  return kind === 'chat' ? { ...price, ...toolPrice(file, type, model) } : price;
}

function toolPrice(file: PriceFile, ofType: string, name: string): { perToolCall?: string; perToolUse?: string } {
  const found = file.tools.find(({ type, models = '' }) => type === ofType && name.startsWith(models));
  if (!found) return {};
  const { perToolCall, perToolUse } = found;
  return { ...(perToolCall !== undefined && { perToolCall }), ...(perToolUse !== undefined && { perToolUse }) };
}
