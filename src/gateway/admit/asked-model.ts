/** The model that a call requests, with the caller's preferences for it. */
import { type Caller, nameFor } from '../../access/access.ts';
import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { FALLBACK_REASONS } from '../../canonical/fallback.ts';
import type { Price } from '../../canonical/price.ts';
import type { Model } from '../../catalog/catalog.ts';
import { offered } from '../../catalog/offer.ts';
import { ratesFor } from '../../ledger/pricing/charge.ts';
import { askedPiece, highestPiece } from '../../ledger/pricing/pieces.ts';
import { type MaxPrice, type Sort, suffixOf, type Wishes, wishedTargets } from '../../routing/wishes.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { RequestedRouting } from './requested-routing.ts';
import { unknownModel } from './unknown-model.ts';

export interface AskedModel {
  readonly model: Model;
  /** From the request, and from a suffix of the name. */
  readonly wishes: Wishes | undefined;
}

const NO_WISHES: Wishes = { allowFallbacks: true, requireParameters: false };

/** Throws `model_not_found`, `model_not_allowed`, `routing_not_allowed`. */
export function askedModel(
  deps: GatewayDeps,
  caller: Caller,
  name: string,
  requestedRouting: RequestedRouting | undefined,
  at: number,
): AskedModel {
  const { model: listed, sort } = modelNamed(deps, caller, name);
  const model = offered(listed, at, caller.priceFactor);
  if (!requestedRouting && !sort) return { model, wishes: undefined };
  if (caller.row.callerRouting === false) throw notAllowed();
  const wishes = sort
    ? { ...NO_WISHES, ...requestedRouting?.wishes, sort: requestedRouting?.wishes?.sort ?? sort }
    : requestedRouting?.wishes;
  return { model: withFallbacks(deps, caller, model, requestedRouting?.models ?? []), wishes };
}

/** A suffix of the name (`:nitro`, `:floor`) is an order of targets, unless a model has that name. */
function modelNamed(
  deps: GatewayDeps,
  caller: Caller,
  name: string,
  param = 'model',
): { model: Model; sort: Sort | undefined } {
  const meant = nameFor(caller, name);
  let model = deps.catalog.find(meant);
  let sort: Sort | undefined;
  if (!model || model.wildcard !== undefined) {
    const suffix = suffixOf(meant);
    const plain = suffix && deps.catalog.find(nameFor(caller, suffix.name));
    if (plain) [model, sort] = [plain, suffix.sort];
  }
  if (!model) throw param === 'model' ? unknownModel(deps, caller, name) : unknownFallback(name, param);
  deps.access.allowModel(caller, model, name);
  return { model, sort };
}

/** The caller's fallbacks, which apply to any error, come before the operator's. */
function withFallbacks(deps: GatewayDeps, caller: Caller, model: Model, names: readonly string[]): Model {
  const fallbacks = names.flatMap((name, i) => {
    const param = `models[${i}]`;
    const { model: other } = modelNamed(deps, caller, name, param);
    if (other.kind !== model.kind) {
      const sentence = `\`${param}\` is of kind ${other.kind}, and \`${model.name}\` of kind ${model.kind}: both must be the same.`;
      throw new GatewayError('invalid_request', sentence, { param });
    }
    return other.name === model.name ? [] : [{ model: other.name, on: [...FALLBACK_REASONS], asked: name }];
  });
  return fallbacks.length > 0 ? { ...model, fallbacks: [...fallbacks, ...(model.fallbacks ?? [])] } : model;
}

/** The model with the targets that the preferences allow. Throws `not_found` where they allow none. */
export function wishedModel(model: Model, wishes: Wishes | undefined): Model {
  if (!wishes) return model;
  const { sort } = wishes;
  const targets = wishedTargets(model.targets, wishes);
  if (targets.length === 0) throw nobody(model, 'the members of `provider` that narrow the choice leave none');
  return { ...model, targets, ...(sort && { strategy: sort }) };
}

const PICO_PER_USD_TOKEN = 1_000_000;
const MILLION = 1_000_000;
const NANO_PER_USD = 1_000_000_000;

/** Throws `not_found` where the call, with so many tokens of input, would be charged at a price above the caller's limit. */
export function checkMaxPrice(model: Model, most: MaxPrice, call: Call, input: number): void {
  if (!isWithin(model.price, most, call, input)) throw nobody(model, 'its price is above `provider.max_price`');
}

/** Compares the caller's limit with what this call is charged: long inputs and large images may cost more than the first row says. */
function isWithin(price: Price, most: MaxPrice, call: Call, input: number): boolean {
  const rates = ratesFor(price, input);
  const output = Math.max(Number(rates.output ?? 0n), Number(rates.reasoning ?? 0n));
  const image = highestPiece(price.images, price.perImage, askedPiece(call));
  const second = highestPiece(price.clips, price.perSecond, askedPiece(call));
  // The limit is compared at list price.
  const times = price.factor === undefined ? 1 : MILLION / Number(price.factor);
  const perToken = (usd: number | undefined) => (usd === undefined ? Infinity : usd * PICO_PER_USD_TOKEN * times);
  const each = (usd: number | undefined) => (usd === undefined ? Infinity : usd * NANO_PER_USD * times);
  return (
    Number(rates.input ?? 0n) <= perToken(most.prompt) &&
    output <= perToken(most.completion) &&
    Number(price.perCharacter ?? 0n) <= perToken(most.prompt) &&
    Number(rates.audioInput ?? 0n) <= perToken(most.audio) &&
    Number(second) <= each(most.audio) &&
    Number(price.perCall ?? 0n) <= each(most.request) &&
    Number(image) <= each(most.image)
  );
}

/** Retryable: a fallback model may fit the preferences. */
function nobody({ name }: Model, why: string): GatewayError {
  const sentence = `No allowed provider is available for the model \`${name}\`: ${why}.`;
  return new GatewayError('not_found', sentence, { param: 'provider', retryable: true });
}

function unknownFallback(name: string, param: string): GatewayError {
  const sentence = `\`${param}\`: the model \`${name}\` does not exist or you do not have access to it. GET /v1/models lists the models.`;
  return new GatewayError('model_not_found', sentence, { param });
}

function notAllowed(): GatewayError {
  const sentence =
    'This API key may not say which models and providers answer: leave out `provider`, `models`, suffixes such as `:nitro`, and the headers for them.';
  return new GatewayError('routing_not_allowed', sentence, { param: 'provider' });
}
