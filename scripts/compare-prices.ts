/**
 * `node bin/bun.mjs scripts/compare-prices.ts`: compares our list prices with those of @pydantic/genai-prices, to help maintain
 * prices.json. The package is fetched into a temporary folder without install scripts; nothing else depends on it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PRICE_LIST } from '../src/catalog/price-list.ts';

const PACKAGE = '@pydantic/genai-prices@0.1.8';

/** Provider names of that package that differ from ours. */
const PROVIDER_IDS: { readonly [type: string]: string } = { xai: 'x-ai', voyage: 'voyageai' };

/** Components of a price in our table and in theirs: USD per million tokens. */
const COMPONENTS = {
  input: 'input_mtok',
  cachedInput: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWriteHour: 'cache_write_1h_mtok',
  output: 'output_mtok',
  audioInput: 'input_audio_mtok',
  audioOutput: 'output_audio_mtok',
  imageInput: 'input_image_mtok',
  imageOutput: 'output_image_mtok',
} as const;
type Component = keyof typeof COMPONENTS;

/** A price in that package: a number, or a base with tiers that begin above a number of tokens. */
export interface TheirPrice {
  readonly [component: string]: number | Tiered | undefined;
}
interface Tiered {
  base: number;
  tiers: readonly { start: number; price: number }[];
}

export interface Row {
  type: string;
  model: string;
  price: { readonly [component in Component]?: string } & { readonly tiers?: readonly Tier[] };
}
type Tier = { readonly from: number } & { readonly [component in Component]?: string };

export interface Difference {
  model: string;
  component: string;
  ours: string;
  theirs: string;
}

export interface Comparison {
  same: string[];
  differences: Difference[];
  /** Models that the package does not have. */
  missing: string[];
}

/** Components that only one table has are ignored. */
export function comparePrices(
  rows: readonly Row[],
  theirPrice: (provider: string, model: string) => TheirPrice | undefined,
): Comparison {
  const comparison: Comparison = { same: [], differences: [], missing: [] };
  for (const { type, model, price } of rows) {
    const theirs = theirPrice(PROVIDER_IDS[type] ?? type, model);
    const name = `${type}/${model}`;
    if (!theirs) {
      comparison.missing.push(name);
      continue;
    }
    const found = (Object.keys(COMPONENTS) as Component[]).flatMap((component) =>
      differencesOf(component, price, theirs[COMPONENTS[component]]).map((one) => ({ model: name, ...one })),
    );
    if (found.length === 0) comparison.same.push(name);
    comparison.differences.push(...found);
  }
  return comparison;
}

function differencesOf(
  component: Component,
  { tiers = [], ...price }: Row['price'],
  theirs: number | Tiered | undefined,
): Omit<Difference, 'model'>[] {
  const [ours, tier] = [price[component], tiers.at(-1)];
  if (ours === undefined || theirs === undefined) return [];
  const base = typeof theirs === 'number' ? theirs : theirs.base;
  const found: Omit<Difference, 'model'>[] = [];
  if (Number(ours) !== base) found.push({ component, ours, theirs: String(base) });
  const long = typeof theirs === 'number' ? undefined : theirs.tiers.at(-1);
  const [ourLong, theirLong] = [tier?.[component] ?? ours, String(long?.price ?? base)];
  if ((tier || long) && Number(ourLong) !== Number(theirLong))
    found.push({ component: `${component}, long`, ours: ourLong, theirs: theirLong });
  return found;
}

interface Library {
  calcPrice(usage: object, model: string, options: object): { model_price: TheirPrice } | null;
}

async function fetched<T>(use: (library: Library) => T): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-prices-'));
  try {
    const args = [
      'install',
      '--no-save',
      '--no-package-lock',
      '--ignore-scripts',
      '--no-audit',
      '--prefix',
      folder,
      PACKAGE,
    ];
    const { status } = spawnSync('npm', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32',
    });
    if (status !== 0) throw new Error(`${PACKAGE} could not be fetched.`);
    const entry = join(folder, 'node_modules/@pydantic/genai-prices/dist/index.js');
    return use((await import(pathToFileURL(entry).href)) as Library);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { same, differences, missing } = await fetched(({ calcPrice }) =>
    comparePrices(PRICE_LIST.models, (providerId, model) => {
      return calcPrice({ input_tokens: 1 }, model, { providerId })?.model_price;
    }),
  );
  console.log(`${PACKAGE}: ${same.length} models alike, ${missing.length} not there, these differ:\n`);
  for (const { model, component, ours, theirs } of differences)
    console.log(`${model.padEnd(44)} ${component.padEnd(20)} ${ours.padStart(9)} here ${theirs.padStart(9)} there`);
  console.log(`\nNot there: ${missing.join(', ')}`);
}
