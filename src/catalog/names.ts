/** Which model a name means: a model's own name first, then an alias, then the longest wildcard. Pure. */

/** `name` may be a wildcard (`openai/*`); an alias may not. */
export interface NamedModel {
  readonly name: string;
  readonly aliases?: readonly string[];
}

/** A model, and what the name put in the place of its `*`; `undefined` where the model is named in full. */
export interface MatchedModel<M> {
  readonly model: M;
  readonly rest: string | undefined;
}

/** A name that stands for all names beginning so: `claude-*`, `openai/*`. */
export function isWildcard(name: string): boolean {
  return name.endsWith('*');
}

const LONGEST_MATCHED = 200;
/** Some providers have the model in the path of their address: what a caller names must stay one part of it. */
const MATCHED = /^[\w~@:.+-]+(?:\/[\w~@:.+-]+)*$/;
const DOTS = /(?:^|\/)\.+(?:\/|$)/;

/** Finds models by name. Letter case matters. */
export class ModelNames<M extends NamedModel> {
  readonly #byName = new Map<string, M>();
  readonly #byAlias = new Map<string, M>();
  /** The longest first. */
  readonly #wildcards: M[];

  /** Where two models have the same alias, the first has it. */
  constructor(models: readonly M[]) {
    for (const model of models) if (!isWildcard(model.name)) this.#byName.set(model.name, model);
    for (const model of models)
      for (const alias of model.aliases ?? []) if (!this.#byAlias.has(alias)) this.#byAlias.set(alias, model);
    this.#wildcards = models
      .filter(({ name }) => isWildcard(name))
      .sort((a, b) => b.name.length - a.name.length || (a.name < b.name ? -1 : 1));
  }

  /** By its own name or an alias. */
  exact(name: string): M | undefined {
    return this.#byName.get(name) ?? this.#byAlias.get(name);
  }

  find(name: string): MatchedModel<M> | undefined {
    const model = this.exact(name);
    if (model) return { model, rest: undefined };
    return this.#wildcards.length > 0 ? this.#matched(name) : undefined;
  }

  #matched(name: string): MatchedModel<M> | undefined {
    if (name.length > LONGEST_MATCHED || !MATCHED.test(name) || DOTS.test(name)) return undefined;
    for (const model of this.#wildcards) {
      const start = model.name.slice(0, -1);
      if (name.length > start.length && name.startsWith(start)) return { model, rest: name.slice(start.length) };
    }
    return undefined;
  }
}

/**
 * The provider's name of a model that a wildcard matched. In a target's `model` the `*` stands for what the name had in its place;
 * a `*` alone passes the whole name on, without a first part that names the provider (`openai/gpt-4o` at OpenAI is `gpt-4o`).
 */
export function targetModelFor(
  target: { readonly model: string; readonly provider: string; readonly type: string },
  name: string,
  rest: string,
): string {
  if (target.model !== '*') return target.model.replace('*', () => rest);
  const slash = name.indexOf('/');
  const first = name.slice(0, slash);
  return slash > 0 && (first === target.provider || first === target.type) ? name.slice(slash + 1) : name;
}
