/** Whether a call may begin: the model is available, the key may use it, its rates and the balance cover it. */
import { SCOPE_OF } from '../access/scopes.ts';
import type { Call, ChatCall, Kind, SpeechCall } from '../canonical/call.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Money } from '../canonical/money.ts';
import type { Model, ModelTarget } from '../catalog/catalog.ts';
import { charge } from '../ledger/charge.ts';
import { estimateTokens } from '../ledger/estimate-tokens.ts';
import type { HoldRequest } from '../ledger/ledger.ts';
import { allTokens, choices, type Extras, outputCeiling, quote, quoteExtras } from '../ledger/quote.ts';
import { CallContext, type Entrant } from './call-context.ts';
import { type Destination, extrasOf, mayCostExtra } from './extras.ts';
import { routeTo } from './find-route.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { Meter } from './meter.ts';
import { type AddressedMedia, addressedMedia } from './prepare/addressed-media.ts';
import { asSpeech } from './prepare/speech-calls.ts';
import { fitted } from './prepare/truncate.ts';
import { urlsTaken } from './target-route.ts';
import { unknownModel } from './unknown-model.ts';

/** Throws `model_not_found`, `model_not_allowed`, `rate_limited`, `upstream_unavailable`, `insufficient_balance`, `budget_exhausted`. */
export async function admit(deps: GatewayDeps, asked: Entrant, underWay: Set<CallContext>): Promise<CallContext> {
  const model = deps.catalog.find(asked.call.model);
  if (!model) throw unknownModel(deps, asked.caller, asked.call.model);
  const entrant = withinWindow(asked, model);
  const { caller, call, at } = entrant;
  deps.access.allowScope(caller, SCOPE_OF[call.kind]);
  deps.access.allowModel(caller, call.model);
  if (model.kind !== call.kind && !(call.kind === 'chat' && alsoConverses(model, call))) throw wrongKind(model, call);
  if (model.kind === 'image' && call.kind === 'chat') call.countsAlone = true;
  const targets = deps.catalog.order(model, deps.random, at);
  const ceiling = outputCeiling(call, model.maxOutputTokens);
  if (call.kind === 'chat' && call.maxOutputTokens === undefined) call.heldOutputTokens = ceiling;
  const estimate = estimateTokens(call);
  const estimatedInput = allTokens(estimate);
  if (choices(call) > MOST_CHOICES && call.kind === 'chat') throw tooManyChoices();
  const maxImages = model.maxImages ?? deps.settings.maxImages;
  if (model.kind === 'image' && choices(call) > maxImages) throw tooManyImages(maxImages);
  // What may fail is reckoned first: who has been let in holds a place, which is given back below.
  let amount = quote(call, model.price, ceiling, estimate);
  if (model.kind === 'speech' && call.kind === 'chat') amount = atLeast(amount, asSpeech(call).call, model);
  const extras = mayCostExtra(call) ? judged(deps, entrant, model, targets, ceiling) : undefined;
  if (extras) amount += quoteExtras(extras, call, model.price);
  const checkpoint = charge({ input: estimatedInput, output: 0, source: 'counted' }, model.price);
  const entering = deps.access.admit(caller, entrant.id, estimatedInput + ceiling * choices(call));
  const pace = entering instanceof Promise ? await entering : entering;
  const request: HoldRequest = {
    callId: entrant.id,
    account: caller.account,
    key: caller.key,
    amount,
    model: model.name,
    priceId: model.priceId,
    at,
    // The first attempt follows at once: a crash from now on costs the caller the input.
    sentAt: at,
    checkpoint,
  };
  if (caller.budget) request.budget = caller.budget;
  if (caller.accountBudget) request.accountBudget = caller.accountBudget;
  try {
    const media = addressedMedia(call, deps.guard, deps.settings.maxMediaBytes);
    if (media) await inlineForFirst(deps, entrant, media, model, targets);
    const hold = await deps.ledger.hold(request);
    return new CallContext(
      entrant,
      { model, targets, hold, meter: new Meter(estimatedInput), media, pace, extras },
      underWay,
    );
  } catch (thrown) {
    pace.end(0);
    throw thrown;
  }
}

/** Only formats whose server keeps conversations say what becomes of one that is too long. */
function withinWindow(entrant: Entrant, model: Model): Entrant {
  const { call } = entrant;
  if (call.kind !== 'chat' || !call.thread) return entrant;
  const shortened = fitted(call, model);
  return shortened === call ? entrant : { ...entrant, call: shortened };
}

function judged(
  deps: GatewayDeps,
  entrant: Entrant,
  model: Model,
  targets: readonly ModelTarget[],
  ceiling: number,
): Extras | undefined {
  return extrasOf(entrant.call, {
    price: model.price,
    ceiling,
    unpriced: deps.settings.unpricedExtras,
    destinations: () => destinationsOf(deps, entrant, model, targets),
  });
}

/** Where the call may go. A target that cannot be reached is sent nothing. */
function destinationsOf(
  deps: GatewayDeps,
  { call, dialect }: Entrant,
  model: Model,
  targets: readonly ModelTarget[],
): Destination[] {
  return targets.flatMap((target) => {
    try {
      return { type: target.type, dialect: routeTo(deps, call, dialect, target, model).dialect.name };
    } catch {
      return [];
    }
  });
}

/** Images are asked for in conversations too, and speech where the format has a word for it; that is never a matter of the price. */
function alsoConverses({ kind }: Model, call: ChatCall): boolean {
  return kind === 'image' || (kind === 'speech' && call.modalities?.includes('audio') === true);
}

/** Some of the targets may be asked for speech, others in the conversation. */
function atLeast(amount: Money, speech: SpeechCall, { price }: Model): Money {
  const spoken = quote(speech, price, 0);
  return spoken > amount ? spoken : amount;
}

/** What the first target wants inline is there before anything is held or sent: what cannot be fetched costs nothing. */
async function inlineForFirst(
  deps: GatewayDeps,
  { call, dialect }: Entrant,
  media: AddressedMedia,
  model: Model,
  [first]: readonly ModelTarget[],
): Promise<void> {
  if (first) await media.inlineFor(urlsTaken(routeTo(deps, call, dialect, first, model)));
}

/** As many as OpenAI takes; each may be an upstream call of its own. */
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

/** Where models of each kind are called. */
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
