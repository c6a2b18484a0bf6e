/** Whether a call may begin: the model is available, the key may use it, its rates and the balance cover it. */
import { SCOPE_OF } from '../access/scopes.ts';
import type { HoldRequest } from '../ledger/ledger.ts';
import { askedModel } from './asked-model.ts';
import { CallContext, type Entrant } from './call-context.ts';
import type { Ready } from './candidate.ts';
import { callNamed, candidateFor, readyFor } from './candidates.ts';
import { FallbackChain } from './fallback-chain.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { Meter } from './meter.ts';
import { type AddressedMedia, addressedMedia } from './prepare/addressed-media.ts';
import { routeTo, urlsTaken } from './target-route.ts';

/** Throws `model_not_found`, `model_not_allowed`, `rate_limited`, `upstream_unavailable`, `insufficient_balance`, `budget_exhausted`. */
export async function admit(deps: GatewayDeps, entrant: Entrant, underWay: Set<CallContext>): Promise<CallContext> {
  const { caller, at } = entrant;
  const asked = entrant.call;
  deps.access.allowScope(caller, SCOPE_OF[asked.kind]);
  const { model, wishes } = askedModel(deps, caller, asked.model, entrant.asking);
  const asker = wishes ? { caller, dialect: entrant.dialect, wishes, headers: entrant.headers } : entrant;
  // What may fail is reckoned first: who has been let in holds a place, which is given back below.
  const named = callNamed(asked, model.name);
  const chain = model.fallbacks ? new FallbackChain(deps, asker, named, model) : undefined;
  const ready = chain ? chain.start() : readyFor(deps, asker, candidateFor(deps, asker, named, model));
  const { candidate } = ready;
  const { call, estimatedInput, extras, amount: covered } = candidate;
  const { amount, checkpoint, tokens } = chain ?? candidate;
  const entering = deps.access.admit(caller, entrant.id, tokens);
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

/** What the first target wants inline is there before anything is held or sent: what cannot be fetched costs nothing. */
async function inlineForFirst(
  deps: GatewayDeps,
  { dialect }: Entrant,
  { candidate: { call, model }, route }: Ready,
  media: AddressedMedia,
): Promise<void> {
  const [first] = route.targets;
  if (first) await media.inlineFor(urlsTaken(routeTo(deps, call, dialect, first, model)));
}
