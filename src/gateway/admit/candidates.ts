/**
 * The model that a call requests, with the caller's preferences for it, and the call prepared for a model that may answer it: checked, its
 * limits set, with what it costs at most.
 */
import { type Caller, nameFor } from '../../access/access.ts';
import type { Call, ChatCall, Kind, SpeechCall } from '../../canonical/call.ts';
import { FALLBACK_REASONS, GatewayError } from '../../canonical/errors.ts';
import type { Money } from '../../canonical/money.ts';
import type { Price } from '../../canonical/price.ts';
import type { Model, ModelTarget } from '../../catalog/catalog.ts';
import { offered } from '../../catalog/offer.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { errorInCallerNames } from '../../dialects/shared/caller-names.ts';
import { memberSpan, patchMembers } from '../../dialects/wire/json.ts';
import { charge, ratesFor } from '../../ledger/pricing/charge.ts';
import { askedPiece, highestPiece } from '../../ledger/pricing/pieces.ts';
import {
  allTokens,
  choices,
  type Extras,
  listQuote,
  outputCeiling,
  quote,
  quoteExtras,
} from '../../ledger/pricing/quote.ts';
import { estimateTokens } from '../../ledger/tokens/estimate-tokens.ts';
import { withImagesAt } from '../../ledger/tokens/image-tokens.ts';
import { isPassedOn, type MaxPrice, type Sort, suffixOf, type Wishes, wishedTargets } from '../../routing/wishes.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { asImages } from '../prepare/image-calls.ts';
import { asSpeech } from '../prepare/speech-calls.ts';
import { fitted } from '../prepare/truncate.ts';
import { routeTo } from '../target-route.ts';
import type { Candidate, Ready } from './candidate.ts';
import { boundedRoute, type Destination, extrasOf, mayCostExtra } from './extras.ts';
import type { RequestedRouting } from './requested-routing.ts';
import { shortened, unknownModel } from './unknown-model.ts';

/** The caller, and the format of the request. */
export interface RequestOrigin {
  /** The caller's preferences for providers. */
  readonly wishes?: Wishes | undefined;
  readonly caller: Caller;
  /** Start of the call in milliseconds since 1970: the prices of this time apply. */
  readonly at: number;
  readonly dialect: Dialect;
  /** The headers of the request. Some name the session that the call belongs to. */
  readonly headers?: { get(name: string): string | null | undefined } | undefined;
}

/** Throws `invalid_request` where the model does not serve such a call. */
export function candidateFor(deps: GatewayDeps, origin: RequestOrigin, asked: Call, whole: Model): Candidate {
  const { wishes } = origin;
  const model = wishes ? wishedModel(whole, wishes) : whole;
  // Only formats with stored conversations define what happens to one that is too long.
  const call = asked.kind === 'chat' && asked.thread ? fitted(asked, model) : asked;
  if (model.kind !== call.kind && !(call.kind === 'chat' && alsoConverses(model, call))) throw wrongKind(model, call);
  if (model.kind === 'image' && call.kind === 'chat') {
    requirePrompt(origin, call);
    call.countsAlone = true;
  }
  const raw = wishes?.raw;
  if (raw && model.targets.some(isPassedOn)) call.hostWishes = boundedRoute(raw, model.price);
  const ceiling = outputCeiling(call, model.maxOutputTokens);
  if (call.kind === 'chat' && call.maxOutputTokens === undefined) call.heldOutputTokens = ceiling;
  const estimate = withImagesAt(estimateTokens(call), model.targets);
  const estimatedInput = allTokens(estimate);
  if (wishes?.maxPrice) checkMaxPrice(model, wishes.maxPrice, call, estimatedInput);
  const many = choices(call);
  if (many > MOST_CHOICES && call.kind === 'chat') throw inWordsOf(origin, tooManyChoices());
  const maxImages = model.maxImages ?? deps.settings.maxImages;
  if (model.kind === 'image' && many > maxImages) throw inWordsOf(origin, tooManyImages(maxImages));
  let amount = quote(call, model.price, ceiling, estimate);
  if (model.kind === 'speech' && call.kind === 'chat') amount = atLeast(amount, speechOf(origin, call), model);
  const extras = mayCostExtra(call) ? judged(deps, origin, call, model, ceiling) : undefined;
  if (extras) amount += quoteExtras(extras, call, model.price);
  const checkpoint = charge({ input: estimatedInput, output: 0, source: 'counted' }, model.price);
  const tokens = estimatedInput + ceiling * many;
  return { model, call, amount, checkpoint, estimatedInput, tokens, extras };
}

/** Throws what `Routing.route` throws where none of its targets may be called now. */
export function readyFor(deps: GatewayDeps, origin: RequestOrigin, candidate: Candidate): Ready {
  const { model, call, estimatedInput } = candidate;
  const route = deps.catalog.routing.route(model, {
    call,
    account: origin.caller.account,
    tokens: estimatedInput,
    headers: origin.headers,
    costAt: model.strategy === 'price' ? costsOf(model, call) : undefined,
    random: deps.random,
  });
  const isAlone = origin.wishes && isFirstAlone(origin.wishes);
  return { candidate, route: isAlone ? { ...route, targets: route.targets.slice(0, 1), ready: 1 } : route };
}

/** Whether only the first target may be tried: no fallbacks, and no order of the caller's. */
function isFirstAlone({ order, allowFallbacks }: Wishes): boolean {
  return !allowFallbacks && order === undefined;
}

/** What the call costs the operator at each target at most. */
function costsOf({ price, maxOutputTokens }: Model, call: Call): (target: ModelTarget) => number {
  return ({ cost }) => Number(listQuote(call, cost ?? price, outputCeiling(call, maxOutputTokens)));
}

/** The call under the name of another model. */
export function callNamed(call: Call, name: string): Call {
  if (call.model === name) return call;
  const { origin } = call;
  return { ...call, model: name, origin: { ...origin, body: bodyNamed(origin.body, name) } };
}

/** Bodies of Google's formats (model in the path) and forms (model in a field) have no such member. */
function bodyNamed(body: Uint8Array, name: string): Uint8Array {
  return body.length > 0 && memberSpan(body, 'model') ? patchMembers(body, { model: name }) : body;
}

function judged(
  deps: GatewayDeps,
  origin: RequestOrigin,
  call: Call,
  model: Model,
  ceiling: number,
): Extras | undefined {
  return extrasOf(call, {
    price: model.price,
    ceiling,
    unpriced: deps.settings.unpricedExtras,
    destinations: () => destinationsOf(deps, origin, call, model),
  });
}

/** Where the call may be sent. Targets without a route are left out. */
function destinationsOf(deps: GatewayDeps, { dialect }: RequestOrigin, call: Call, model: Model): Destination[] {
  return model.targets.flatMap((target) => {
    try {
      return { type: target.type, dialect: routeTo(deps, call, dialect, target, model).dialect.name };
    } catch {
      return [];
    }
  });
}

/** Image models can be called in conversations; speech models too, if the call requests audio. */
function alsoConverses({ kind }: Model, call: ChatCall): boolean {
  // A text completion has no place for an image.
  return (kind === 'image' && !call.completion) || (kind === 'speech' && call.modalities?.includes('audio') === true);
}

/** Some targets may be sent a speech request, others the conversation: the hold covers the more expensive one. */
function atLeast(amount: Money, speech: SpeechCall, { price }: Model): Money {
  const spoken = quote(speech, price, 0);
  return spoken > amount ? spoken : amount;
}

function speechOf(origin: RequestOrigin, call: ChatCall): SpeechCall {
  try {
    return asSpeech(call).call;
  } catch (thrown) {
    throw inWordsOf(origin, thrown);
  }
}

/** Without one the model would generate an image of nothing, and charge for it. */
function requirePrompt(origin: RequestOrigin, call: ChatCall): void {
  const { prompt, images } = asImages(call).call;
  if (prompt !== '' || images.length > 0) return;
  const sentence = 'The model only generates images: the last message of the user must describe one.';
  throw inWordsOf(origin, new GatewayError('invalid_request', sentence, { param: 'messages' }));
}

function inWordsOf({ dialect }: RequestOrigin, error: unknown): unknown {
  return errorInCallerNames(error, dialect.name);
}

/** OpenAI's own limit. Each choice may be an upstream call. */
const MOST_CHOICES = 128;

function tooManyChoices(): GatewayError {
  const sentence = `A call may ask for ${MOST_CHOICES} choices at most, all prompts together.`;
  return new GatewayError('invalid_request', sentence, { param: 'n' });
}

function tooManyImages(most: number): GatewayError {
  const range = most === 1 ? '1' : `from 1 to ${most}`;
  const sentence = `The most images a call of this model may ask for is ${most}: \`n\` must be ${range}.`;
  return new GatewayError('too_many_images', sentence, { param: 'n' });
}

/** The endpoints for models of each kind, for error messages. */
const ENDPOINTS: { readonly [kind in Kind]: string } = {
  chat: 'POST /v1/chat/completions (or /v1/messages, /v1/responses, :generateContent)',
  embed: 'POST /v1/embeddings',
  rerank: 'POST /v1/rerank',
  image: 'POST /v1/images/generations',
  speech: 'POST /v1/audio/speech, or ask for audio (`modalities`, `responseModalities`)',
  transcription: 'POST /v1/audio/transcriptions',
  moderation: 'POST /v1/moderations',
  video: 'POST /v1/videos',
};

function wrongKind({ name, kind }: Model, call: Call): GatewayError {
  const sentence = `The model \`${name}\` is of kind ${kind}, and this endpoint serves models of kind ${call.kind}: send it to ${ENDPOINTS[kind]}.`;
  return new GatewayError('invalid_request', sentence, { param: 'model' });
}

export interface AskedModel {
  readonly model: Model;
  /** From the request, and from a suffix of the name. */
  readonly wishes: Wishes | undefined;
}

const NO_WISHES: Wishes = { allowFallbacks: true, requireParameters: false };

/** Throws `model_not_found`, `model_not_allowed`, `routing_not_allowed`. */
export function requestedModel(
  deps: GatewayDeps,
  caller: Caller,
  name: string,
  requestedRouting: RequestedRouting | undefined,
  at: number,
): AskedModel {
  const { model: listed, sort } = modelNamed(deps, caller, name);
  const { priceFactor } = caller;
  const model = listed.scheduled || priceFactor ? offered(listed, at, priceFactor) : listed;
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
function wishedModel(model: Model, wishes: Wishes): Model {
  const { sort } = wishes;
  const targets = wishedTargets(model.targets, wishes);
  if (targets.length === 0) throw nobody(model, 'the members of `provider` that narrow the choice leave none');
  return { ...model, targets, ...(sort && { strategy: sort }) };
}

const PICO_PER_USD_TOKEN = 1_000_000;
const MILLION = 1_000_000;
const NANO_PER_USD = 1_000_000_000;

/** Throws `not_found` where the call, with so many tokens of input, would be charged at a price above the caller's limit. */
function checkMaxPrice(model: Model, most: MaxPrice, call: Call, input: number): void {
  if (!isWithin(model.price, most, call, input)) throw nobody(model, 'its price is above `provider.max_price`');
}

/** Compares the caller's limit with what this call is charged: long inputs and large images may cost more than the first row of the price. */
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
  const sentence = `\`${param}\`: the model \`${shortened(name)}\` does not exist or you do not have access to it. GET /v1/models lists the models.`;
  return new GatewayError('model_not_found', sentence, { param });
}

function notAllowed(): GatewayError {
  const sentence =
    'This API key may not say which models and providers answer: leave out `provider`, `models`, suffixes such as `:nitro`, and the headers for them.';
  return new GatewayError('routing_not_allowed', sentence, { param: 'provider' });
}
