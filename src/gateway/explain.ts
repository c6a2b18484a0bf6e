/** Explains what would happen to a request now, and why. Nothing is sent, held or counted. */
import type { Caller } from '../access/access.ts';
import { SCOPE_OF } from '../access/scopes.ts';
import { asGatewayError, type GatewayError } from '../canonical/errors.ts';
import { type Money, writeMoney } from '../canonical/money.ts';
import type { Price } from '../canonical/price.ts';
import type { Model } from '../catalog/catalog.ts';
import type { Dialect, WireRequest } from '../dialects/dialect.ts';
import { askedModel } from './asked-model.ts';
import { boundCall } from './call-bounds.ts';
import type { Ready } from './candidate.ts';
import { callNamed, candidateFor, type RequestOrigin, readyFor } from './candidates.ts';
import { reachableModels } from './fallback-chain.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { readRequest, takeWishes } from './prepare/take-wishes.ts';
import { routeTo } from './target-route.ts';

export interface ExplainedError {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly param?: string;
}

export interface ExplainedTarget {
  readonly provider: string;
  readonly type: string;
  readonly model: string;
  readonly priority: number;
  readonly weight: number;
  /** The reason of its place in the order; absent where there was no choice. */
  readonly reason?: string;
  /** The format that is used there; absent where there is no route to it. */
  readonly format?: string;
}

export interface ExplainedModel {
  readonly name: string;
  /** The errors after which it is tried; absent for the requested model. */
  readonly on?: readonly string[];
  readonly price: Price;
  readonly priceId: string;
  readonly estimatedInputTokens?: number;
  /** The most that the call costs at this model's price. */
  readonly amount?: Money;
  /** In the order to try them. */
  readonly targets: readonly ExplainedTarget[];
  /** Targets that cannot serve the call, by their ids. */
  readonly excluded?: readonly { readonly target: string; readonly reason: string }[];
  /** Why it is not called now. */
  readonly error?: ExplainedError;
}

export interface Explanation {
  readonly asked: string;
  /** How the name was found. */
  readonly foundBy?: 'name' | 'alias' | 'wildcard' | 'suffix';
  /** The caller's preferences for providers. */
  readonly wishes?: object;
  /** The requested model, then its fallbacks. */
  readonly models: readonly ExplainedModel[];
  /** The hold: the most that any of them costs. */
  readonly hold?: Money;
  readonly available: Money;
  /** The error that the caller would get at once. */
  readonly error?: ExplainedError;
}

export async function explain(
  deps: GatewayDeps,
  dialect: Dialect,
  caller: Caller,
  request: WireRequest,
): Promise<Explanation> {
  const { available } = (await deps.ledger.balance(caller.account)) ?? { available: 0n };
  let asked = '';
  try {
    const { call: told, models } = readRequest(dialect, request);
    asked = told.model;
    const wished = takeWishes(told, models, request);
    const call = wished?.call ?? told;
    boundCall(call);
    deps.access.allowScope(caller, SCOPE_OF[call.kind]);
    const { model, wishes } = askedModel(deps, caller, asked, wished?.requestedRouting);
    const origin: RequestOrigin = { caller, dialect, wishes };
    const all = reachableModels(deps, origin, model);
    const explained = all.map((one) => {
      const named = callNamed(one === model ? call : { ...call, origin: { ...call.origin } }, one.name);
      return explainModel(deps, origin, one, reasonsFor(deps, all, one), () => candidateFor(deps, origin, named, one));
    });
    const hold = explained.reduce((most, { amount = 0n }) => (amount > most ? amount : most), 0n);
    return {
      asked,
      foundBy: foundBy(model, asked),
      ...(wishes && { wishes: withoutSaid(wishes) }),
      models: explained,
      hold,
      available,
      ...refusal(explained, hold, available),
    };
  } catch (thrown) {
    return { asked, models: [], available, error: errorOf(asGatewayError(thrown)) };
  }
}

function explainModel(
  deps: GatewayDeps,
  origin: RequestOrigin,
  { name, price, priceId }: Model,
  on: readonly string[] | undefined,
  prepare: () => Ready['candidate'],
): ExplainedModel {
  const known = { name, ...(on && { on }), price, priceId };
  let prepared: Ready['candidate'] | undefined;
  try {
    prepared = prepare();
    const { targets, decision } = readyFor(deps, origin, prepared).route;
    const reasons = new Map(decision?.choices.map(({ target, reason }) => [target.id, reason]));
    const excluded = decision?.excluded.map(({ target, reason }) => ({ target: target.id, reason })) ?? [];
    return {
      ...known,
      ...costOf(prepared),
      targets: targets.map((target) => targetOf(deps, origin, prepared, target, reasons.get(target.id))),
      ...(excluded.length > 0 && { excluded }),
    };
  } catch (thrown) {
    return { ...known, ...costOf(prepared), targets: [], error: errorOf(asGatewayError(thrown)) };
  }
}

function costOf(candidate: Ready['candidate'] | undefined) {
  return candidate && { estimatedInputTokens: candidate.estimatedInput, amount: candidate.amount };
}

function targetOf(
  deps: GatewayDeps,
  { dialect }: RequestOrigin,
  candidate: Ready['candidate'] | undefined,
  target: Model['targets'][number],
  reason: string | undefined,
): ExplainedTarget {
  const { provider, type, model, priority, weight } = target;
  const known = { provider, type, model, priority, weight, ...(reason !== undefined && { reason }) };
  try {
    if (!candidate) return known;
    return { ...known, format: routeTo(deps, candidate.call, dialect, target, candidate.model).dialect.name };
  } catch {
    return known;
  }
}

/** The errors of earlier models after which it is tried. */
function reasonsFor(deps: GatewayDeps, all: readonly Model[], model: Model): readonly string[] | undefined {
  if (all[0] === model) return undefined;
  const rows = all.flatMap(({ fallbacks = [] }) => fallbacks);
  return [...new Set(rows.flatMap((row) => (deps.catalog.find(row.model)?.name === model.name ? row.on : [])))];
}

function foundBy({ name, wildcard }: Model, asked: string): NonNullable<Explanation['foundBy']> {
  if (wildcard !== undefined) return 'wildcard';
  if (name === asked) return 'name';
  return asked.startsWith(`${name}:`) ? 'suffix' : 'alias';
}

function withoutSaid<W extends { said?: unknown }>({ said: _, ...wishes }: W): object {
  return wishes;
}

/** The error of the requested model, where no model can be called now. */
function refusal(models: readonly ExplainedModel[], hold: Money, available: Money): { error?: ExplainedError } {
  const [first] = models;
  if (first?.error && models.every(({ error }) => error)) return { error: first.error };
  if (hold <= available) return {};
  const message = `This call may cost up to ${writeMoney(hold)} USD, the balance has ${writeMoney(available)} USD available.`;
  return { error: { code: 'insufficient_balance', status: 402, message } };
}

function errorOf({ code, status, message, param }: GatewayError): ExplainedError {
  return { code, status, message, ...(param !== undefined && { param }) };
}
