/** The models that may answer a call in place of the one asked for, in the order to try them. */
import { mayCall } from '../access/access.ts';
import type { Call } from '../canonical/call.ts';
import { asGatewayError, type GatewayError } from '../canonical/errors.ts';
import type { FallbackReason } from '../canonical/fallback.ts';
import type { Money } from '../canonical/money.ts';
import type { Model } from '../catalog/catalog.ts';
import { fallbackReason } from '../routing/fallback-reason.ts';
import type { Candidate, Chain, Ready } from './candidate.ts';
import { type Asker, callNamed, candidateFor, readyFor } from './candidates.ts';
import type { GatewayDeps } from './gateway-deps.ts';

/** A model whose fallbacks are being gone through, and why. */
interface Level {
  readonly model: Model;
  readonly reason: FallbackReason;
  next: number;
}

/** A chain may branch: each model costs a quote. */
const MOST_MODELS = 16;

export class FallbackChain implements Chain {
  readonly #deps: GatewayDeps;
  readonly #asker: Asker;
  /** By the names of their models. */
  readonly #candidates = new Map<string, Candidate>();
  readonly #failures = new Map<string, GatewayError>();
  readonly #levels: Level[] = [];
  readonly #tried = new Set<string>();
  #current: Model;
  /** What the model that was asked for failed with. */
  #first: GatewayError | undefined;

  /** `call`: in the name of `model`, which is the one asked for. */
  constructor(deps: GatewayDeps, asker: Asker, call: Call, model: Model) {
    this.#deps = deps;
    this.#asker = asker;
    this.#current = model;
    const models = reachableModels(deps, asker, model);
    // What one model bounds in its call must not bind the next.
    const calls = models.map((one) => (one === model ? call : callNamed(copyOf(call), one.name)));
    for (const [i, one] of models.entries()) {
      try {
        this.#candidates.set(one.name, candidateFor(deps, asker, calls[i] ?? call, one));
      } catch (thrown) {
        this.#failures.set(one.name, asGatewayError(thrown));
      }
    }
  }

  /** The most that the call costs, whichever of them answers. */
  get amount(): Money {
    return this.#most(({ amount }) => amount);
  }

  /** The least that a model's input costs: more than that nobody may be charged for a call of which nothing is known. */
  get checkpoint(): Money {
    const checkpoints = [...this.#candidates.values()].map(({ checkpoint }) => checkpoint);
    return checkpoints.reduce((least, one) => (one < least ? one : least));
  }

  get tokens(): number {
    return Math.max(...[...this.#candidates.values()].map(({ tokens }) => tokens));
  }

  /** The model that was asked for, or the first that can be tried in its place. Throws what it fails with where none can. */
  start(): Ready {
    const ready = this.#tryModel(this.#current);
    if (!('error' in ready)) return ready;
    return this.next(ready.error) ?? this.fail(ready.error);
  }

  next(error: GatewayError): Ready | undefined {
    this.#first ??= error;
    let reason = fallbackReason(error);
    if (reason === undefined && this.#levels.length === 0) return undefined;
    for (;;) {
      if (reason) this.#levels.push({ model: this.#current, reason, next: 0 });
      const model = this.#nextModel();
      if (!model) return undefined;
      const ready = this.#tryModel(model);
      if (!('error' in ready)) return ready;
      reason = fallbackReason(ready.error);
    }
  }

  get leavesFailure(): boolean {
    return [this.#current, ...this.#levels.map(({ model }) => model)].some(({ fallbacks = [] }) =>
      fallbacks.some(({ on, model }) => on.includes('unavailable') && !this.#tried.has(model)),
    );
  }

  get leavesFilter(): boolean {
    const rows = this.#current.fallbacks ?? [];
    return rows.some(({ on, model }) => on.includes('content_filter') && !this.#tried.has(model));
  }

  fail(error: GatewayError): never {
    throw this.#first ?? error;
  }

  #tryModel(model: Model): Ready | { error: GatewayError } {
    this.#current = model;
    this.#tried.add(model.name);
    const candidate = this.#candidates.get(model.name);
    const failure = this.#failures.get(model.name);
    try {
      if (!candidate) throw failure;
      return readyFor(this.#deps, this.#asker, candidate);
    } catch (thrown) {
      return { error: asGatewayError(thrown) };
    }
  }

  /** Of the innermost model that still has fallbacks for its reason. */
  #nextModel(): Model | undefined {
    for (let level = this.#levels.at(-1); level; level = this.#levels.at(-1)) {
      const row = level.model.fallbacks?.[level.next++];
      if (!row) this.#levels.pop();
      else if (row.on.includes(level.reason)) {
        const model = this.#deps.catalog.find(row.model);
        if (model && this.#isOpen(model, level)) return model;
      }
    }
    return undefined;
  }

  #isOpen(model: Model, { model: failed, reason }: Level): boolean {
    const isKnown = this.#candidates.has(model.name) || this.#failures.has(model.name);
    return isKnown && !this.#tried.has(model.name) && !(reason === 'context_length' && isNoLarger(model, failed));
  }

  #most(of: (candidate: Candidate) => Money): Money {
    let most = 0n;
    for (const candidate of this.#candidates.values()) if (of(candidate) > most) most = of(candidate);
    return most;
  }
}

function isNoLarger({ contextTokens }: Model, failed: Model): boolean {
  return contextTokens !== undefined && failed.contextTokens !== undefined && contextTokens <= failed.contextTokens;
}

/** The model and those it leads to, each once. What the key may not call, or what serves other calls, is left out. */
export function reachableModels(deps: GatewayDeps, { caller }: Asker, asked: Model): Model[] {
  const found = new Map<string, Model>([[asked.name, asked]]);
  for (const model of found.values()) {
    for (const { model: name } of model.fallbacks ?? []) {
      const next = deps.catalog.find(name);
      if (!next || found.has(next.name) || found.size >= MOST_MODELS) continue;
      if (next.kind === asked.kind && mayCall(caller, next, name)) found.set(next.name, next);
    }
  }
  return [...found.values()];
}

function copyOf(call: Call): Call {
  return { ...call, origin: { ...call.origin } };
}
