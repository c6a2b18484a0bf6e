/** The error for an unknown model. It names the most similar model, and how to configure a provider where there is none. */
import { type Caller, mayCall } from '../../access/access.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Catalog, Model } from '../../catalog/catalog.ts';
import { isWildcard } from '../../catalog/names.ts';
import type { GatewayDeps } from '../gateway-deps.ts';

const SWITCH_ON =
  'set its key (OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY …) or add it to modelport.yaml, and start again';

type ModelDeps = Pick<GatewayDeps, 'catalog' | 'provider'>;

export function unknownModel(deps: ModelDeps, caller: Caller, name: string): GatewayError {
  const models = deps.catalog.list();
  const near = nearestModel(deps.catalog, caller, name);
  const sentences = [`The model \`${shortened(name)}\` does not exist or you do not have access to it.`];
  if (near !== undefined) sentences.push(`Did you mean \`${near}\`?`);
  if (models.length === 0) sentences.push(`No provider is configured here: ${SWITCH_ON}.`);
  else if (models.every((model) => isShipped(deps, model)))
    sentences.push(`Only the sandbox is switched on here: to call a provider, ${SWITCH_ON}.`);
  sentences.push('GET /v1/models lists the models; letter case counts.');
  return new GatewayError('model_not_found', sentences.join(' '), { param: 'model' });
}

/** A name of a megabyte is not sent back. */
const LONGEST_SHOWN = 200;
export const shortened = (name: string) => (name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name);

/** The most similar name of the models that the caller may call. */
export function nearestModel(catalog: Catalog, caller: Caller, name: string): string | undefined {
  const named = catalog.list().filter((model) => !isWildcard(model.name));
  return nearestName(name, caller.models ? named.filter((model) => mayCall(caller, model)) : named);
}

function isShipped(deps: ModelDeps, { targets }: Model): boolean {
  return targets.every(({ type }) => deps.provider(type)?.failsOnRequest);
}

/** Limits of the comparison, whose time grows with the square of a name's length. */
const LONGEST_NAME = 80;
const MOST_NAMES = 2000;

/** The most similar name, if it is similar enough. */
function nearestName(asked: string, models: readonly Pick<Model, 'name'>[]): string | undefined {
  if (asked.length > LONGEST_NAME) return undefined;
  const wanted = asked.toLowerCase();
  let nearest: string | undefined;
  let least = Math.floor(Math.max(2, asked.length / 4)) + 1;
  for (const { name } of models.slice(0, MOST_NAMES)) {
    if (Math.abs(name.length - asked.length) >= least || name.length > LONGEST_NAME) continue;
    const changes = distance(wanted, name.toLowerCase());
    if (changes < least) [nearest, least] = [name, changes];
  }
  return nearest;
}

/** The Levenshtein distance. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++)
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)),
      );
    row = next;
  }
  return row[other.length] ?? 0;
}
