/** Checks that src/catalog/prices.json has the form of its schema, a source and a day for every row, and each model once. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Errors } from 'typebox/value';
import { PriceFile } from '../src/catalog/price-schema.ts';
import { PROVIDERS } from '../src/providers/index.ts';
import { type Fault, ROOT, report } from './source-files.ts';

export const PRICES = 'src/catalog/prices.json';

/** `types`: the provider types; `today`: such as 2026-11-22. */
export function priceFaults(text: string, types: readonly string[], today: string): Fault[] {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (thrown) {
    return [`${PRICES}: ${(thrown as Error).message}`];
  }
  const faults = Errors(PriceFile, file).map(({ instancePath, message }) => `${PRICES}: ${instancePath} ${message}`);
  return faults.length > 0 ? faults : rowFaults(file as PriceFile, types, today);
}

function rowFaults({ models, tools }: PriceFile, types: readonly string[], today: string): Fault[] {
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const { type, model } of models) {
    if (seen.has(model)) faults.push(`${PRICES}: ${type}/${model} occurs twice`);
    seen.add(model);
  }
  const named = [...models, ...tools.map((tool) => ({ ...tool, model: `tools ${tool.models ?? ''}`.trim() }))];
  for (const { type, model, asOf } of named) {
    if (!types.includes(type)) faults.push(`${PRICES}: ${type}/${model}: there is no provider type ${type}`);
    if (asOf > today || Number.isNaN(Date.parse(asOf)))
      faults.push(`${PRICES}: ${type}/${model}: ${asOf} is not a day in the past`);
  }
  return faults;
}

if (import.meta.main) {
  const text = readFileSync(join(ROOT, PRICES), 'utf8');
  report('prices', priceFaults(text, [...PROVIDERS.keys()], new Date().toISOString().slice(0, 10)));
}
