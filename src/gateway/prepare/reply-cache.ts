/** Answers the same request of the same account with the reply that was stored for it. Never by likeness. */

import { SCOPE_OF } from '../../access/scopes.ts';
import type { Call } from '../../canonical/call.ts';
import type { PlacedSet } from '../../canonical/placed-set.ts';
import type { Model } from '../../catalog/catalog.ts';
import type { WireRequest } from '../../dialects/dialect.ts';
import { patchMembers } from '../../dialects/wire/json.ts';
import { readsMore } from '../../ledger/doubt.ts';
import { charge } from '../../ledger/pricing/charge.ts';
import { admit, holdRequest } from '../admit/admit.ts';
import { callNamed, requestedModel } from '../admit/candidates.ts';
import { CallContext, type PendingCall } from '../call-context.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { Meter } from '../settle/meter.ts';
import { addressedMedia } from './addressed-media.ts';
import { CachedCall } from './cached-call.ts';
import { readStoredReply, type StoredReply } from './stored-reply.ts';

/** Kinds whose replies are texts and figures. */
const KINDS: ReadonlySet<Call['kind']> = new Set(['chat', 'embed', 'rerank', 'moderation']);

/** Longer requests are not compared: reading them again would take longer than a call may wait. */
const MOST_REQUEST_BYTES = 4 * 1024 * 1024;

/**
 * Members that do not change the answer: how it is sent, the user, labels. The model is part of the hash by what its name
 * means.
 */
const LEFT_OUT = {
  model: undefined,
  stream: undefined,
  stream_options: undefined,
  user: undefined,
  safety_identifier: undefined,
  metadata: undefined,
  prompt_cache_key: undefined,
  prompt_cache_retention: undefined,
};

/** Admits a call of a key with a cache. Throws what `admit` throws. */
export async function admitCached(
  deps: GatewayDeps,
  pending: PendingCall,
  request: WireRequest,
  underWay: PlacedSet<CallContext>,
): Promise<CallContext> {
  const { caller, call } = pending;
  deps.access.allowScope(caller, SCOPE_OF[call.kind]);
  const { model } = requestedModel(deps, caller, call.model, pending.requestedRouting, pending.at);
  const { hash, isStorable, stored } = await lookUp(deps, pending, model, request);
  const cache = new CachedCall(hash, model.name, caller.row.cacheSeconds ?? 0, stored, isStorable);
  const context = stored
    ? await admitHit(deps, pending, model, stored, underWay)
    : await admit(deps, pending, underWay);
  context.cache = cache;
  return context;
}

/** What of a call decides which reply answers it. */
type CacheLookup = Pick<PendingCall, 'dialect' | 'caller' | 'call' | 'strict' | 'requestedRouting'>;

interface Found {
  readonly hash: string;
  /** The reply to the call may be stored. */
  readonly isStorable: boolean;
  readonly stored: StoredReply | undefined;
}

export async function lookUp(
  deps: GatewayDeps,
  wanted: CacheLookup,
  model: Model,
  request: WireRequest,
): Promise<Found> {
  const cacheControl = request.headers.get('cache-control') ?? '';
  const isStorable = !/\bno-store\b/i.test(cacheControl) && isCacheable(deps, wanted, request);
  const hash = isStorable ? hashOf(wanted, model, request) : '';
  const stored = isStorable && !/\bno-cache\b/i.test(cacheControl) ? await find(deps, wanted, hash) : undefined;
  return { hash, isStorable, stored };
}

/** Whether the reply depends only on the request, and stores nothing at the provider. */
function isCacheable(deps: GatewayDeps, { call, requestedRouting }: CacheLookup, { form, body }: WireRequest): boolean {
  if (form || body.length > MOST_REQUEST_BYTES || !KINDS.has(call.kind)) return false;
  // Who demands that providers keep nothing does not expect it of a gateway.
  if (requestedRouting?.wishes?.dataPolicy) return false;
  if (Object.values(call.extras).some(({ store }) => store === true)) return false;
  // The content of a URL may change.
  if (addressedMedia(call, deps.guard, deps.settings.maxMediaBytes)) return false;
  if (call.kind !== 'chat') return true;
  const { thread } = call;
  // If nothing is stored here, the provider may store it.
  if (thread && (thread.store || thread.previous !== undefined || thread.references.length > 0)) return false;
  // Tools and files at the provider: what they contain may change.
  return !readsMore(call);
}

/** Changes of the model's targets and limits may change the answer; those of its price do not. */
function hashOf(wanted: CacheLookup, model: Model, { path, query, body }: WireRequest): string {
  const { dialect, caller, call, strict, requestedRouting } = wanted;
  const { name, kind, maxOutputTokens, contextTokens } = model;
  const targets = model.targets.map(({ id, type, baseUrl, settings }) => [id, type, baseUrl, settings]);
  const action = path.action?.replace('streamGenerateContent', 'generateContent');
  const asked = [...query].filter(([member]) => member !== 'key' && member !== 'alt');
  const around = [
    caller.account,
    [name, kind, maxOutputTokens, contextTokens, targets],
    [dialect.name, action, asked, call.headers, strict, requestedRouting],
  ];
  const hasher = new Bun.CryptoHasher('sha256');
  return hasher.update(JSON.stringify(around)).update('\n').update(patchMembers(body, LEFT_OUT)).digest('hex');
}

/** A cache that cannot be read is no reason to refuse a call. */
async function find(deps: GatewayDeps, { caller }: CacheLookup, hash: string): Promise<StoredReply | undefined> {
  try {
    const maxAgeMs = (caller.row.cacheSeconds ?? 0) * 1000;
    const row = await deps.memory.replies.find(caller.account, hash, deps.now(), maxAgeMs);
    return row && readStoredReply(row.body);
  } catch (thrown) {
    deps.reportError('The stored replies could not be read.', thrown);
    return undefined;
  }
}

/** Nothing is sent to a provider, so no tokens count against the limits, and a hold that is left behind is released. */
async function admitHit(
  deps: GatewayDeps,
  pending: PendingCall,
  model: Model,
  stored: StoredReply,
  underWay: PlacedSet<CallContext>,
): Promise<CallContext> {
  const amount = charge(stored.usage, model.price);
  const entering = deps.access.admit(pending.caller, pending.id, 0);
  const pace = entering instanceof Promise ? await entering : entering;
  try {
    const hold = await deps.ledger.hold(holdRequest(pending, model, amount));
    const admitted = { model, route: { targets: [], ready: 0 }, estimatedInput: 0, hold, covered: amount, pace };
    const rest = { meter: new Meter(0), media: undefined, extras: undefined };
    const call = callNamed(pending.call, model.name);
    const context = new CallContext({ ...pending, call }, { ...admitted, ...rest }, underWay);
    context.warnings = stored.warnings;
    return context;
  } catch (thrown) {
    pace.end(0);
    throw thrown;
  }
}
