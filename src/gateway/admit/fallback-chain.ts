/** The requested model and its fallbacks, in the order to try them. */
import { mayCall } from '../../access/access.ts';
import type { Call } from '../../canonical/call.ts';
import { asGatewayError, type FallbackReason, type GatewayError } from '../../canonical/errors.ts';
import type { Money } from '../../canonical/money.ts';
import type { Model } from '../../catalog/catalog.ts';
import { offered } from '../../catalog/offer.ts';
import { fallbackReason } from '../../routing/fallback-reason.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Candidate, Chain, Ready } from './candidate.ts';
import { callNamed, candidateFor, type RequestOrigin, readyFor } from './candidates.ts';

/** A model whose fallbacks are being tried, and why. */
interface Level {
  readonly model: Model;
  readonly reason: FallbackReason;
  next: number;
}

/** Fallbacks may have fallbacks, and each model needs a quote. */
const MOST_MODELS = 16;

export class FallbackChain implements Chain {
  readonly #deps: GatewayDeps;
  readonly #origin: RequestOrigin;
  /** By the names of their models. */
  readonly #candidates = new Map<string, Candidate>();
  readonly #failures = new Map<string, GatewayError>();
  readonly #levels: Level[] = [];
  readonly #tried = new Set<string>();
  #current: Model;
  /** The error of the requested model. */
  #first: GatewayError | undefined;

  /** `call`: under the name of `model`, the requested one. */
  constructor(deps: GatewayDeps, origin: RequestOrigin, call: Call, model: Model) {
    this.#deps = deps;
    this.#origin = origin;
    this.#current = model;
    const models = reachableModels(deps, origin, model);
    // Each model gets a copy: limits that one sets in its call must not apply to the next.
    const calls = models.map((one) => (one === model ? call : callNamed(copyOf(call), one.name)));
    for (const [i, one] of models.entries()) {
      try {
        this.#candidates.set(one.name, candidateFor(deps, origin, calls[i] ?? call, one));
      } catch (thrown) {
        this.#failures.set(one.name, asGatewayError(thrown));
      }
    }
  }

  /** The most that the call costs, whichever model answers. */
  get amount(): Money {
    return this.#most(({ amount }) => amount);
  }

  /** The lowest cost of the input: if the process dies, it is not known which model was called. */
  get checkpoint(): Money {
    const checkpoints = [...this.#candidates.values()].map(({ checkpoint }) => checkpoint);
    return checkpoints.reduce((least, one) => (one < least ? one : least));
  }

  get tokens(): number {
    return Math.max(...[...this.#candidates.values()].map(({ tokens }) => tokens));
  }

  /** The requested model, or its first fallback that can be tried. Throws the requested model's error where none can. */
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
      return readyFor(this.#deps, this.#origin, candidate);
    } catch (thrown) {
      return { error: asGatewayError(thrown) };
    }
  }

  /** The next fallback of the last model that has one for its error. */
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

/** The model and its fallbacks, each once. Models that the key may not call and models of another kind are left out. */
export function reachableModels(deps: GatewayDeps, { caller, at }: RequestOrigin, asked: Model): Model[] {
  const found = new Map<string, Model>([[asked.name, asked]]);
  for (const model of found.values()) {
    for (const { model: name, asked: byName = name } of model.fallbacks ?? []) {
      const next = deps.catalog.find(name);
      if (!next || found.has(next.name) || found.size >= MOST_MODELS) continue;
      if (next.kind === asked.kind && mayCall(caller, next, byName)) {
        found.set(next.name, offered(next, at, caller.priceFactor));
      }
    }
  }
  return [...found.values()];
}

function copyOf(call: Call): Call {
  return { ...call, origin: { ...call.origin } };
}
