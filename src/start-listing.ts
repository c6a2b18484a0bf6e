/** The lines of a start about its providers, models and prices, and about variables that look misspelt. */
import { priceIdAt } from './catalog/offer.ts';
import { PRICE_LIST } from './catalog/price-list.ts';
import type { ProviderVariables } from './config.ts';
import type { Store } from './store/store.ts';

const SHOWN = 6;
const PRICES_AT_ONCE = 1000;

/** A few lines: providers, models, and the dates of their prices. */
export async function startListing(
  store: Pick<Store, 'providers' | 'models' | 'prices'>,
  now: number,
): Promise<string[]> {
  const [providers, models] = await Promise.all([store.providers(), store.models()]);
  if (providers.length === 0 && models.length === 0) return ['No provider is configured.'];
  const used = new Set(models.map((model) => priceIdAt(model, now)));
  const made: string[] = [];
  for (let after: string | undefined, more = true; more; ) {
    const page = await store.prices({ limit: PRICES_AT_ONCE, ...(after !== undefined && { after }) });
    for (const { id, createdAt } of page) if (used.has(id)) made.push(new Date(createdAt).toISOString().slice(0, 10));
    after = page.at(-1)?.id;
    more = page.length === PRICES_AT_ONCE;
  }
  const types = new Map(providers.map(({ name, type }) => [name, type]));
  const targets = new Set(
    models.flatMap(({ targets }) => targets.map(({ provider, model }) => `${types.get(provider)} ${model}`)),
  );
  const listed = PRICE_LIST.models.filter(({ type, model }) => targets.has(`${type} ${model}`)).map(({ asOf }) => asOf);
  return [
    `Providers (${providers.length}): ${shortList(providers.map(({ name }) => name))}`,
    `Models (${models.length}): ${shortList(models.map(({ name }) => name))}`,
    ...(made.length > 0
      ? [
          `Prices: set ${span(made)}${listed.length > 0 ? `; list prices of this version are as of ${span(listed)}` : ''}`,
        ]
      : []),
  ];
}

function shortList(names: readonly string[]): string {
  const rest = names.length - SHOWN;
  return `${names.slice(0, SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function span(dates: readonly string[]): string {
  const [first = '', last = ''] = [dates.reduce((a, b) => (a < b ? a : b)), dates.reduce((a, b) => (a > b ? a : b))];
  return first === last ? first : `${first} to ${last}`;
}

/** Names that other programs read, or that are easily taken for ours. */
const OTHER_NAMES: { readonly [variable: string]: string } = {
  CLAUDE_API_KEY: 'ANTHROPIC_API_KEY',
  GOOGLE_API_KEY: 'GEMINI_API_KEY',
  GOOGLE_GENERATIVE_AI_API_KEY: 'GEMINI_API_KEY',
  GOOGLE_AI_API_KEY: 'GEMINI_API_KEY',
  GROK_API_KEY: 'XAI_API_KEY',
  CHATGPT_API_KEY: 'OPENAI_API_KEY',
  HUGGINGFACE_API_KEY: 'HF_TOKEN',
  HUGGING_FACE_API_KEY: 'HF_TOKEN',
  KIMI_API_KEY: 'MOONSHOT_API_KEY',
  QWEN_API_KEY: 'DASHSCOPE_API_KEY',
  AZURE_API_KEY: 'AZURE_OPENAI_API_KEY',
};

/** Variables that are set but not read, with the one that was probably meant. Values are not looked at beyond being empty. */
export function misspeltVariables(
  env: { readonly [variable: string]: string | undefined },
  providers: readonly ProviderVariables[],
): { variable: string; meant: string }[] {
  const known = providers.flatMap(
    ({ credentialVariable, credentialVariables = [], baseUrlVariable, settingVariables }) => [
      ...(credentialVariable === undefined ? [] : [credentialVariable]),
      ...credentialVariables,
      ...(baseUrlVariable === undefined ? [] : [baseUrlVariable]),
      ...Object.values(settingVariables ?? {}).flat(),
    ],
  );
  const bySpelling = new Map(known.map((variable) => [spellingOf(variable), variable]));
  const isSet = (variable: string) => (env[variable] ?? '').trim() !== '';
  return Object.keys(env).flatMap((variable) => {
    const meant = OTHER_NAMES[variable] ?? bySpelling.get(spellingOf(variable));
    const isMisspelt = meant !== undefined && meant !== variable && !known.includes(variable);
    return isMisspelt && isSet(variable) && !isSet(meant) ? [{ variable, meant }] : [];
  });
}

/** Without letter case, separators and the plural: `OPEN_AI_API_KEY` and `OPENAI_API_KEYS` are one. */
const spellingOf = (variable: string): string =>
  variable
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .replace(/S$/, '');
