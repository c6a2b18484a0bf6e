/**
 * Decides whether a call may begin: its size is within bounds, the model exists, the key may use it, limits and balance cover it. Takes the
 * hold.
 */
import type { Admitted } from '../../access/limits.ts';
import { SCOPE_OF } from '../../access/scopes.ts';
import type { Call } from '../../canonical/call.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { Money } from '../../canonical/money.ts';
import type { PlacedSet } from '../../canonical/placed-set.ts';
import { isTextOnly } from '../../canonical/text-only.ts';
import type { Model } from '../../catalog/catalog.ts';
import type { Hold, HoldRequest } from '../../ledger/ledger.ts';
import { CallContext, type PendingCall } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { type AddressedMedia, addressedMedia } from '../prepare/addressed-media.ts';
import { Meter } from '../settle/meter.ts';
import { routeTo, urlsTaken } from '../target-route.ts';
import type { Ready } from './candidate.ts';
import { callNamed, candidateFor, readyFor, requestedModel } from './candidates.ts';
import { FallbackChain } from './fallback-chain.ts';

/** A call that may begin once its hold is taken. It has a place within the limits of key and account. */
export interface Admission {
  readonly pending: PendingCall;
  readonly request: HoldRequest;
  readonly ready: Ready;
  readonly pace: Admitted;
  readonly media: AddressedMedia | undefined;
  readonly chain: FallbackChain | undefined;
}

/**
 * A promise only where limits are shared with other processes or media have to be fetched. Throws `model_not_found`, `model_not_allowed`,
 * `rate_limited`, `upstream_unavailable`.
 */
export function admission(deps: GatewayDeps, pending: PendingCall): Admission | Promise<Admission> {
  const { caller, at, call: asked } = pending;
  deps.access.allowScope(caller, SCOPE_OF[asked.kind]);
  const { model, wishes } = requestedModel(deps, caller, asked.model, pending.requestedRouting, at);
  const origin = wishes ? { caller, at, dialect: pending.dialect, wishes, headers: pending.headers } : pending;
  // Checks without side effects come first: after `access.admit` the call has a place that must be released.
  const named = callNamed(asked, model.name);
  const chain = model.fallbacks ? new FallbackChain(deps, origin, named, model) : undefined;
  const ready = chain ? chain.start() : readyFor(deps, origin, candidateFor(deps, origin, named, model));
  const { amount, checkpoint, tokens } = chain ?? ready.candidate;
  const request = holdRequest(pending, model, amount);
  // The first attempt follows at once. If the process dies from now on, the input is charged.
  request.sentAt = at;
  request.checkpoint = checkpoint;
  const { call } = ready.candidate;
  const media = isTextOnly(call) ? undefined : addressedMedia(call, deps.guard, deps.settings.maxMediaBytes);
  const pace = deps.access.admit(caller, pending.id, tokens);
  if (media || pace instanceof Promise) return withMedia(deps, { pending, request, ready, pace, media, chain });
  return { pending, request, ready, pace, media, chain };
}

/** Fetches the media that the first target takes inline, before the hold: a URL that cannot be fetched costs nothing. */
async function withMedia(
  deps: GatewayDeps,
  asked: Omit<Admission, 'pace'> & { pace: Admitted | Promise<Admitted> },
): Promise<Admission> {
  const pace = await asked.pace;
  const { media, pending, ready } = asked;
  const { call, model } = ready.candidate;
  const [first] = ready.route.targets;
  try {
    if (media && first) await media.inlineFor(urlsTaken(routeTo(deps, call, pending.dialect, first, model)));
    return { ...asked, pace };
  } catch (thrown) {
    pace.end(0);
    throw thrown;
  }
}

/** The active call, once its hold is taken. */
export function begin(
  { pending, ready, pace, media, chain }: Admission,
  hold: Hold,
  underWay: PlacedSet<CallContext>,
): CallContext {
  const { route, candidate } = ready;
  const { call, model, estimatedInput, extras, amount: covered } = candidate;
  const meter = new Meter(estimatedInput);
  return new CallContext(
    call === pending.call ? pending : { ...pending, call },
    { model, route, estimatedInput, hold, covered, meter, media, chain, pace, extras },
    underWay,
  );
}

/** All of it. Throws `insufficient_balance` and `budget_exhausted` too. */
export async function admit(
  deps: GatewayDeps,
  pending: PendingCall,
  underWay: PlacedSet<CallContext>,
): Promise<CallContext> {
  const admitted = await admission(deps, pending);
  try {
    return begin(admitted, await deps.ledger.hold(admitted.request), underWay);
  } catch (thrown) {
    admitted.pace.end(0);
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

const MOST_MESSAGES = 10_000;
/** Of all messages together. */
const MOST_PARTS = 20_000;
const MOST_TOOLS = 2000;

/** Throws `request_too_large`. */
export function boundCall(call: Call): void {
  if (call.kind !== 'chat') return;
  const { messages, tools } = call;
  if (messages.length > MOST_MESSAGES) throw tooMany(messages.length, 'messages', MOST_MESSAGES);
  if (tools.length > MOST_TOOLS) throw tooMany(tools.length, 'tools', MOST_TOOLS);
  let parts = 0;
  for (const message of messages) parts += message.parts.length;
  if (parts > MOST_PARTS) throw tooMany(parts, 'content parts', MOST_PARTS);
}

function tooMany(count: number, what: string, most: number): GatewayError {
  return new GatewayError('request_too_large', `The request has ${count} ${what}: at most ${most} are taken.`);
}
