/** What the names of several models together must not say: one alias twice, and models that fall back to each other in a circle. */
import type { ModelRow } from '../store/catalog-rows.ts';
import { type ModelEntry, refuse } from './catalogue.ts';
import { ModelNames } from './names.ts';

type Entry = Pick<ModelRow, 'name' | 'kind' | 'aliases' | 'fallbacks'>;

/** `entries`: what was written; `rows`: what there is. Throws `invalid_request` naming the member that is wrong. */
export function refuseWrongNames(entries: readonly ModelEntry[], rows: readonly Entry[]): void {
  const written = new Set(entries.map(({ name }) => name));
  const all: readonly Entry[] = [...entries, ...rows.filter(({ name }) => !written.has(name))];
  const names = new ModelNames(all);
  for (const [i, entry] of entries.entries()) {
    refuseTakenAliases(entry, all, `models[${i}].aliases`);
    refuseWrongFallbacks(entry, names, `models[${i}].fallbacks`);
  }
}

function refuseTakenAliases({ name, aliases = [] }: Entry, all: readonly Entry[], path: string): void {
  for (const [i, alias] of aliases.entries()) {
    const other = all.find((one) => one.name !== name && one.aliases?.includes(alias));
    if (other) refuse(`${path}[${i}]`, `${path}[${i}] is an alias of the model "${other.name}" already: "${alias}"`);
  }
}

function refuseWrongFallbacks(entry: Entry, names: ModelNames<Entry>, path: string): void {
  for (const [i, { model }] of (entry.fallbacks ?? []).entries()) {
    const at = `${path}[${i}].model`;
    const found = names.find(model)?.model;
    if (!found) refuse(at, `${at} must name a model that is configured: "${model}" is not`);
    else if (found.kind !== entry.kind)
      refuse(
        at,
        `${at} must be of the same kind: "${model}" is of kind ${found.kind}, "${entry.name}" of ${entry.kind}`,
      );
    else {
      const circle = wayBack(entry.name, found, names, [entry.name, model]);
      if (circle) refuse(at, `${at} leads back to the model itself: ${circle.join(' -> ')}`);
    }
  }
}

/** The names from `from` over its fallbacks to `name`; `undefined`: it never gets there. */
function wayBack(
  name: string,
  from: Entry,
  names: ModelNames<Entry>,
  passed: readonly string[],
  seen: Set<string> = new Set(),
): readonly string[] | undefined {
  if (from.name === name) return passed;
  if (seen.has(from.name)) return undefined;
  seen.add(from.name);
  for (const { model } of from.fallbacks ?? []) {
    const next = names.find(model)?.model;
    const circle = next && wayBack(name, next, names, [...passed, model], seen);
    if (circle) return circle;
  }
  return undefined;
}
