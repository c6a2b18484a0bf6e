/** Prepares a call for a model that may answer it: checks it, sets its limits, computes what it costs at most. */
import type { Caller } from '../../access/access.ts';
import type { Call, ChatCall, Kind, SpeechCall } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Money } from '../../canonical/money.ts';
import type { Model, ModelTarget } from '../../catalog/catalog.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { errorInCallerNames } from '../../dialects/shared/caller-names.ts';
import { memberSpan, patchMembers } from '../../dialects/wire/json.ts';
import { charge } from '../../ledger/pricing/charge.ts';
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
import { isPassedOn, type Wishes } from '../../routing/wishes.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { asImages } from '../prepare/image-calls.ts';
import { asSpeech } from '../prepare/speech-calls.ts';
import { fitted } from '../prepare/truncate.ts';
import { routeTo } from '../target-route.ts';
import { checkMaxPrice, wishedModel } from './asked-model.ts';
import type { Candidate, Ready } from './candidate.ts';
import { boundedRoute, type Destination, extrasOf, mayCostExtra } from './extras.ts';

/** The caller, and the format of the request. */
export interface RequestOrigin {
  /** The caller's preferences for providers. */
  readonly wishes?: Wishes | undefined;
  readonly caller: Caller;
  /** When the call began, in milliseconds since 1970: its price is that of this time. */
  readonly at: number;
  readonly dialect: Dialect;
  /** The headers of the request. Some name the session that the call belongs to. */
  readonly headers?: { get(name: string): string | null | undefined } | undefined;
}

/** Throws `invalid_request` where the model does not serve such a call. */
export function candidateFor(deps: GatewayDeps, origin: RequestOrigin, asked: Call, whole: Model): Candidate {
  const model = wishedModel(whole, origin.wishes);
  // Only formats with stored conversations define what happens to one that is too long.
  const call = asked.kind === 'chat' && asked.thread ? fitted(asked, model) : asked;
  if (model.kind !== call.kind && !(call.kind === 'chat' && alsoConverses(model, call))) throw wrongKind(model, call);
  if (model.kind === 'image' && call.kind === 'chat') {
    requirePrompt(origin, call);
    call.countsAlone = true;
  }
  const raw = origin.wishes?.raw;
  if (raw && model.targets.some(isPassedOn)) call.hostWishes = boundedRoute(raw, model.price);
  const ceiling = outputCeiling(call, model.maxOutputTokens);
  if (call.kind === 'chat' && call.maxOutputTokens === undefined) call.heldOutputTokens = ceiling;
  const estimate = estimateTokens(call);
  const estimatedInput = allTokens(estimate);
  if (origin.wishes?.maxPrice) checkMaxPrice(model, origin.wishes.maxPrice, call, estimatedInput);
  if (choices(call) > MOST_CHOICES && call.kind === 'chat') throw inWordsOf(origin, tooManyChoices());
  const maxImages = model.maxImages ?? deps.settings.maxImages;
  if (model.kind === 'image' && choices(call) > maxImages) throw inWordsOf(origin, tooManyImages(maxImages));
  let amount = quote(call, model.price, ceiling, estimate);
  if (model.kind === 'speech' && call.kind === 'chat') amount = atLeast(amount, speechOf(origin, call), model);
  const extras = mayCostExtra(call) ? judged(deps, origin, call, model, ceiling) : undefined;
  if (extras) amount += quoteExtras(extras, call, model.price);
  const checkpoint = charge({ input: estimatedInput, output: 0, source: 'counted' }, model.price);
  const tokens = estimatedInput + ceiling * choices(call);
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
    costAt: model.strategy === 'price' ? (target) => costAt(target, model, call) : undefined,
    random: deps.random,
  });
  const isAlone = origin.wishes && isFirstAlone(origin.wishes);
  return { candidate, route: isAlone ? { ...route, targets: route.targets.slice(0, 1), ready: 1 } : route };
}

/** Whether only the first target may be tried: no fallbacks, and no order of the caller's. */
function isFirstAlone({ order, allowFallbacks }: Wishes): boolean {
  return !allowFallbacks && order === undefined;
}

/** What the call costs the operator at this target at most. */
function costAt({ cost }: ModelTarget, { price, maxOutputTokens }: Model, call: Call): number {
  return Number(listQuote(call, cost ?? price, outputCeiling(call, maxOutputTokens)));
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

/** Image models can be called in conversations; speech models too, where the call asks for audio. */
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
