/** Explains what would happen to a request now, and why. Nothing is sent, held or counted. */
import type { Caller, CallerState } from '../../access/access.ts';
import { SCOPE_OF } from '../../access/scopes.ts';
import type { Call } from '../../canonical/call.ts';
import { asGatewayError, type GatewayError } from '../../canonical/errors.ts';
import type { Money } from '../../canonical/money.ts';
import type { Price } from '../../canonical/price.ts';
import type { Model } from '../../catalog/catalog.ts';
import type { Dialect, WireRequest } from '../../dialects/dialect.ts';
import { charge } from '../../ledger/pricing/charge.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { lookUp } from '../prepare/reply-cache.ts';
import { readRequest, takeWishes } from '../prepare/take-wishes.ts';
import { routeTo } from '../target-route.ts';
import { boundCall } from './admit.ts';
import type { Ready } from './candidate.ts';
import { callNamed, candidateFor, type RequestOrigin, readyFor, requestedModel } from './candidates.ts';
import { type CallNeeds, checksOf, type ExplainedCheck } from './explain-checks.ts';
import { reachableModels } from './fallback-chain.ts';

export interface ExplainedError {
  readonly code: string;
  readonly status: number;
  readonly message: string;
  readonly param?: string;
  readonly retryAfterSeconds?: number;
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

type CacheStatus = 'hit' | 'miss' | 'bypass';

export interface Explanation {
  readonly asked: string;
  /** How the name was found. */
  readonly foundBy?: 'name' | 'alias' | 'wildcard' | 'suffix';
  /** The caller's preferences for providers. */
  readonly wishes?: object;
  /** The requested model, then its fallbacks. */
  readonly models: readonly ExplainedModel[];
  /** The hold: the most that any of them costs, or the price of a stored reply. */
  readonly hold?: Money;
  readonly available: Money;
  /** Of a key with a cache; `hit`: a stored reply answers, and no target is called. */
  readonly cache?: CacheStatus;
  /** What the key, its limits, the balance and the budgets say, in the order in which the call meets them. */
  readonly checks: readonly ExplainedCheck[];
  /** The error that the caller would get at once. */
  readonly error?: ExplainedError;
}

export async function explain(
  deps: GatewayDeps,
  dialect: Dialect,
  caller: Caller,
  request: WireRequest,
): Promise<Explanation> {
  const balance = (await deps.ledger.balance(caller.account)) ?? { available: 0n, held: 0n };
  let asked = '';
  try {
    const { call: original, models: modelsMember } = readRequest(dialect, request);
    asked = original.model;
    const wished = takeWishes(original, modelsMember, request);
    const call = wished?.call ?? original;
    boundCall(call);
    deps.access.allowScope(caller, SCOPE_OF[call.kind]);
    const requestedRouting = wished?.requestedRouting;
    const at = deps.now();
    const { model, wishes } = requestedModel(deps, caller, asked, requestedRouting, at);
    const origin = { caller, at, dialect, wishes };
    const all = reachableModels(deps, origin, model);
    const reached = all.map((one) => {
      const named = callNamed(one === model ? call : { ...call, origin: { ...call.origin } }, one.name);
      return explainModel(deps, origin, one, reasonsFor(deps, all, one), named);
    });
    const strict = request.headers.get('x-modelport-strict') === 'true';
    const cache = await cacheOf(deps, { dialect, caller, call, strict, requestedRouting }, model, request);
    const needs = needsOf(reached, cache);
    const state = await deps.access.look(caller, needs.tokens, deps.now());
    const checks = checksOf(caller, state, balance, needs);
    const models = reached.map(({ explained }) => explained);
    return {
      asked,
      foundBy: foundBy(model, asked),
      ...(wishes && { wishes: withoutRaw(wishes) }),
      ...(cache && { cache: cache.status }),
      models,
      hold: needs.hold,
      available: balance.available,
      checks,
      ...refusal(state, cache?.status === 'hit' ? [] : models, checks),
    };
  } catch (thrown) {
    return { asked, models: [], available: balance.available, checks: [], error: errorOf(asGatewayError(thrown)) };
  }
}

/** Of a key with a cache: whether a stored reply answers the call, and what that costs. */
async function cacheOf(
  deps: GatewayDeps,
  wanted: Parameters<typeof lookUp>[1],
  model: Model,
  request: WireRequest,
): Promise<{ status: CacheStatus; hit?: Money } | undefined> {
  if (wanted.caller.row.cacheSeconds === undefined) return undefined;
  const { stored, isStorable } = await lookUp(deps, wanted, model, request);
  if (stored) return { status: 'hit', hit: charge(stored.usage, model.price) };
  return { status: isStorable ? 'miss' : 'bypass' };
}

/** A stored reply needs no tokens. */
function needsOf(reached: readonly ReachedModel[], cache: { hit?: Money } | undefined): CallNeeds {
  if (cache?.hit !== undefined) return { tokens: 0, hold: cache.hit };
  const hold = reached.reduce((most, { explained: { amount = 0n } }) => (amount > most ? amount : most), 0n);
  return { tokens: Math.max(0, ...reached.map(({ tokens }) => tokens)), hold };
}

interface ReachedModel {
  readonly explained: ExplainedModel;
  /** What its call may use. */
  readonly tokens: number;
}

function explainModel(
  deps: GatewayDeps,
  origin: RequestOrigin,
  model: Model,
  on: readonly string[] | undefined,
  call: Call,
): ReachedModel {
  const { name, price, priceId } = model;
  const known = { name, ...(on && { on }), price, priceId };
  let prepared: Ready['candidate'] | undefined;
  try {
    prepared = candidateFor(deps, origin, call, model);
    const { targets, decision } = readyFor(deps, origin, prepared).route;
    const reasons = new Map(decision?.choices.map(({ target, reason }) => [target.id, reason]));
    const excluded = decision?.excluded.map(({ target, reason }) => ({ target: target.id, reason })) ?? [];
    const explained = {
      ...known,
      ...costOf(prepared),
      targets: targets.map((target) => targetOf(deps, origin, prepared, target, reasons.get(target.id))),
      ...(excluded.length > 0 && { excluded }),
    };
    return { explained, tokens: prepared.tokens };
  } catch (thrown) {
    const error = errorOf(asGatewayError(thrown));
    return { explained: { ...known, ...costOf(prepared), targets: [], error }, tokens: prepared?.tokens ?? 0 };
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

function withoutRaw<W extends { raw?: unknown }>({ raw: _, ...wishes }: W): object {
  return wishes;
}

/** The first error that the call meets: of its key, of the models where none can be called now, of its limits, of its money. */
function refusal(
  { refusal: ofKey, limits }: CallerState,
  models: readonly ExplainedModel[],
  checks: readonly ExplainedCheck[],
): { error?: ExplainedError } {
  if (ofKey) return { error: errorOf(ofKey) };
  const [first] = models;
  if (first?.error && models.every(({ error }) => error)) return { error: first.error };
  if (limits.refusal) return { error: errorOf(limits.refusal) };
  const money = checks.find(({ check, passes }) => !passes && (check === 'balance' || check === 'budget'));
  if (!money) return {};
  const code = money.check === 'balance' ? 'insufficient_balance' : 'budget_exhausted';
  return { error: { code, status: 402, message: money.reason } };
}

function errorOf({ code, status, message, param, retryAfterSeconds }: GatewayError): ExplainedError {
  return {
    code,
    status,
    message,
    ...(param !== undefined && { param }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
