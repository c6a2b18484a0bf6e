/** Decides whether a call may begin: the model exists, the key may use it, limits and balance cover it. Takes the hold. */
import { SCOPE_OF } from '../access/scopes.ts';
import type { Money } from '../canonical/money.ts';
import type { Model } from '../catalog/catalog.ts';
import type { HoldRequest } from '../ledger/ledger.ts';
import { askedModel } from './asked-model.ts';
import { CallContext, type PendingCall } from './call-context.ts';
import type { Ready } from './candidate.ts';
import { callNamed, candidateFor, readyFor } from './candidates.ts';
import { FallbackChain } from './fallback-chain.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { Meter } from './meter.ts';
import { type AddressedMedia, addressedMedia } from './prepare/addressed-media.ts';
import { routeTo, urlsTaken } from './target-route.ts';

/** Throws `model_not_found`, `model_not_allowed`, `rate_limited`, `upstream_unavailable`, `insufficient_balance`, `budget_exhausted`. */
export async function admit(deps: GatewayDeps, entrant: PendingCall, underWay: Set<CallContext>): Promise<CallContext> {
  const { caller, at } = entrant;
  const asked = entrant.call;
  deps.access.allowScope(caller, SCOPE_OF[asked.kind]);
  const { model, wishes } = askedModel(deps, caller, asked.model, entrant.requestedRouting);
  const origin = wishes ? { caller, dialect: entrant.dialect, wishes, headers: entrant.headers } : entrant;
  // What can fail without side effects comes first: from `access.admit` on the call holds a place that must be given back.
  const named = callNamed(asked, model.name);
  const chain = model.fallbacks ? new FallbackChain(deps, origin, named, model) : undefined;
  const ready = chain ? chain.start() : readyFor(deps, origin, candidateFor(deps, origin, named, model));
  const { candidate } = ready;
  const { call, estimatedInput, extras, amount: covered } = candidate;
  const { amount, checkpoint, tokens } = chain ?? candidate;
  const entering = deps.access.admit(caller, entrant.id, tokens);
  const pace = entering instanceof Promise ? await entering : entering;
  const request = holdRequest(entrant, model, amount);
  // The first attempt follows at once. If the process dies from now on, the input is charged.
  request.sentAt = at;
  request.checkpoint = checkpoint;
  try {
    const media = addressedMedia(call, deps.guard, deps.settings.maxMediaBytes);
    if (media) await inlineForFirst(deps, entrant, ready, media);
    const hold = await deps.ledger.hold(request);
    const meter = new Meter(estimatedInput);
    return new CallContext(
      call === entrant.call ? entrant : { ...entrant, call },
      { model: candidate.model, route: ready.route, estimatedInput, hold, covered, meter, media, chain, pace, extras },
      underWay,
    );
  } catch (thrown) {
    pace.end(0);
    throw thrown;
  }
}

/** A hold of a call that is not sent yet. */
export function holdRequest({ id, caller, at }: PendingCall, { name, priceId }: Model, amount: Money): HoldRequest {
  const { account, key, budget, accountBudget } = caller;
  const request: HoldRequest = { callId: id, account, key, amount, model: name, priceId, at };
  if (budget) request.budget = budget;
  if (accountBudget) request.accountBudget = accountBudget;
  return request;
}

/** Fetches the media that the first target takes inline, before the hold: a URL that cannot be fetched costs nothing. */
async function inlineForFirst(
  deps: GatewayDeps,
  { dialect }: PendingCall,
  { candidate: { call, model }, route }: Ready,
  media: AddressedMedia,
): Promise<void> {
  const [first] = route.targets;
  if (first) await media.inlineFor(urlsTaken(routeTo(deps, call, dialect, first, model)));
}
