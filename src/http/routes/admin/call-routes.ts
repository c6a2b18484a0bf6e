/** Admin API: records of calls. */
import { type Static, Type } from 'typebox';
import { auditOfEntry } from '../../../access/audit.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { writeMoney } from '../../../canonical/money.ts';
import { readComponents } from '../../../catalog/price-text.ts';
import { disputeOf, settleDispute, writeDispute } from '../../../ledger/disputes.ts';
import type { CallFilter, CallOutcome, CallRow } from '../../../store/rows.ts';
import type { Store } from '../../../store/store.ts';
import type { RunningCall } from '../../../tasks/finish.ts';
import { readReceipt } from '../../../telemetry/receipt.ts';
import { named } from '../../fields/named.ts';
import { listOf, PAGE, PAGE_LIMIT } from '../../fields/page.ts';
import { Time, TimeInput, timeOf, writeTime } from '../../fields/time.ts';
import { moneyOf, Usd, UsdInput } from '../../fields/usd.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { chargeOf, entriesOf, RECEIPT } from '../../receipt-shape.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { accountNamed } from './account-named.ts';
import { type CallExport, callFormatOf, exportCalls } from './call-export.ts';
import { streamCalls } from './call-stream.ts';
import { Entry, writeEntry } from './money-routes.ts';
import { Payload, readPayload } from './payload.ts';

const OUTCOMES = [
  'ok',
  'refused',
  'failed',
  'broken',
  'aborted',
  'interrupted',
  'disputed',
] as const satisfies readonly CallOutcome[];

/** The maximum of calls that one request reads. With five million calls that takes some milliseconds to some tens of them. */
const EXAMINED = 5000;

const FILTERS = {
  account: Type.Optional(Type.String({ description: "an account's id or name" })),
  key: Type.Optional(Type.String({ description: "a key's id" })),
  model: Type.Optional(Type.String()),
  provider: Type.Optional(Type.String({ description: 'that answered, or was tried last' })),
  status: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 599, description: 'the HTTP status of the response, such as 429' }),
  ),
  error: Type.Optional(Type.String({ description: "an error's code, such as rate_limited" })),
  tag: Type.Optional(Type.String({ description: 'one of the tags of the header `x-modelport-tags`' })),
  outcome: Type.Optional(Type.Union(OUTCOMES.map((outcome) => Type.Literal(outcome)))),
  cost_above: Type.Optional({
    ...UsdInput,
    description: 'calls that cost more than this amount in USD, such as "0.50"',
  }),
  from: Type.Optional(TimeInput),
  to: Type.Optional(TimeInput),
};
const CallQuery = Type.Object({ ...PAGE, ...FILTERS });
const LiveQuery = Type.Object(FILTERS);

/** nginx holds other streams back. */
const EVENT_STREAM = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

const CALL = {
  id: Type.String(),
  account: Type.String(),
  key: Type.String(),
  at: Time,
  model: Type.String(),
  provider: Type.String(),
  targetModel: Type.String(),
  dialect: Type.String(),
  upstreamDialect: Type.String(),
  stream: Type.Boolean(),
  status: Type.Integer(),
  outcome: Type.String({
    description: `one of ${OUTCOMES.join(', ')}; running: of a video that is still generated, where one call is shown`,
  }),
  errorCode: Type.Optional(Type.String()),
  provisional: Type.Optional(
    Type.Boolean({
      description:
        'settled for a process that was assumed dead; if the process settles it later, that settlement replaces this one',
    }),
  ),
  attempts: Type.Integer(),
  cost: Usd,
  priceId: Type.String(),
  providerCost: Type.Optional({ ...Usd, description: 'what the provider charges; absent if it is not known' }),
  usage: Type.Optional(Type.Object({})),
  saved: Type.Optional(Usd),
  durationMs: Type.Number(),
  firstByteMs: Type.Optional(Type.Number()),
  dispute: Type.Optional(
    Type.Object({
      claimed: Usd,
      charged: Usd,
      decision: Type.Optional(Type.String({ description: 'accept or reject; absent if undecided' })),
    }),
  ),
};
const Call = named('Call', CALL);
const CallWithReceipt = named('CallWithReceipt', { ...CALL, ...RECEIPT });

const Decided = Type.Object(
  { decision: Type.Union([Type.Literal('accept'), Type.Literal('reject')]) },
  { additionalProperties: false },
);

export const CALL_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/admin/v1/calls', {
    gate: 'admin',
    permission: 'calls:read',
    summary:
      'Lists calls, latest first. A request reads at most 5000 calls that one of its filters finds by an index: a page may be shorter than `limit`, or empty, while `hasMore` is true; `next` goes on. With `status`, `error` or `outcome` the list includes calls that were refused before they were admitted, of the last day. With `Accept: text/csv`, `application/x-ndjson` or `application/vnd.apache.parquet` all calls that match, or the first `limit`, are streamed in that format.',
    query: CallQuery,
    reply: listOf(Call),
    answer: async (deps, request) => {
      const { query, headers, client } = request;
      const filter = await filterOf(deps, query);
      await deps.refusals.flush();
      const format = callFormatOf(headers.get('accept'));
      if (format !== 'json') {
        const part = { ...query, client, mayGoOn: readingRightOf(deps, request) };
        return await exportCalls(exportOf(deps.store, filter), format, part);
      }
      const { limit = PAGE_LIMIT, after } = query;
      const page = { ...filter, limit, ...(after !== undefined && { after }) };
      const { calls, next } = await deps.store.callPage(page, EXAMINED);
      const data = await Promise.all(calls.map((call) => withDispute(deps.store, call)));
      return { data, hasMore: next !== undefined, next: next?.id ?? null };
    },
  }),
  route('GET', '/admin/v1/calls/stream', {
    gate: 'admin',
    permission: 'calls:read',
    summary:
      'Calls that match, as server-sent events while they end: `event: call` with a line of the list, a comment at least every 15 seconds, and at last `event: end` with its `reason` (signed-out, slow-reader, stopping, failed). Calls of other processes come within a second.',
    query: LiveQuery,
    reply: Call,
    answer: async (deps, request) => {
      const { store, live, now, reportError } = deps;
      const filter = await filterOf(deps, request.query);
      const write = (call: CallRow) => withDispute(store, call);
      const who = request.caller.key;
      const body = streamCalls({
        who,
        live,
        store,
        filter,
        write,
        now,
        reportError,
        mayGoOn: readingRightOf(deps, request),
      });
      if (!body) {
        const message =
          'Too many live lists are open, of yours or in this process. Close one, or read GET /admin/v1/calls.';
        throw new GatewayError('rate_limited', message);
      }
      return new Response(body, { headers: EVENT_STREAM });
    },
  }),
  route('GET', '/admin/v1/calls/:id', {
    gate: 'admin',
    permission: 'calls:read',
    summary: 'Shows one call with its receipt, by the x-request-id of its response.',
    reply: CallWithReceipt,
    answer: async ({ store, refusals, videos }, { path }) => {
      await refusals.flush();
      const call = (await store.call(path.id ?? '')) ?? (await videos.running(path.id ?? ''));
      if (!call) throw new GatewayError('not_found', `There is no call "${path.id}".`, { param: 'id' });
      const [written, charge, entries] = await Promise.all([
        withDispute(store, call),
        chargeOf(store, call),
        entriesOf(store, call),
      ]);
      return { ...written, ...readReceipt(call), ...charge, entries };
    },
  }),
  route('GET', '/admin/v1/calls/:id/payload', {
    gate: 'admin',
    permission: 'payloads:read',
    summary:
      'Shows what was captured of the request and the reply of a call whose key or model has `capture`. Every reading is in the audit log.',
    reply: Payload,
    answer: readPayload,
  }),
  route('POST', '/admin/v1/calls/:id/dispute', {
    gate: 'admin',
    permission: 'money:write',
    summary:
      "Settles a disputed call, once: `accept` charges the difference to the provider's report, `reject` refunds what was charged beyond the delivered usage. Repeating the same decision returns the first entry; the other decision is refused.",
    body: Decided,
    reply: Entry,
    answer: async ({ store, ledger, now }, { path, body, caller }) => {
      const settings = { store, ledger, readPrice: readComponents };
      const action = `call.dispute-${body.decision}ed`;
      const audit = ({ id }: CallRow) => auditOfEntry({ actor: caller.key, action, subject: id }, now());
      return writeEntry(await settleDispute(settings, path.id ?? '', body.decision, now(), audit));
    },
  }),
];

/** What an export writes of the calls of this filter. */
export const exportOf = (store: Store, filter: CallExport['filter']): CallExport => ({
  store,
  filter,
  columns: Object.keys(Call.properties),
  write: (call) => withDispute(store, call),
});

/** Whether the requester may still read calls: sessions and keys end at once. */
function readingRightOf({ people, store, now }: HttpDeps, request: Pick<RouteRequest, 'caller' | 'signedIn'>) {
  const { caller } = request;
  if (caller.permissions) {
    const { session } = request.signedIn();
    return async () => (await people?.sessions.permissionsNow(session))?.has('calls:read') ?? false;
  }
  const { hash, priorUntil = 0 } = caller.row;
  // If the request used the key before a rotation, the stream ends with it; a client with the new key opens another.
  const until = priorUntil > now() ? priorUntil : Number.POSITIVE_INFINITY;
  return async () => {
    const key = await store.keyById(caller.key);
    if (key === undefined || key.disabledAt !== undefined) return false;
    const isKnown = key.hash === hash || (key.priorHash === hash && (key.priorUntil ?? 0) > now());
    return isKnown && until > now() && (key.expiresAt ?? Number.POSITIVE_INFINITY) > now();
  };
}

async function filterOf(
  deps: HttpDeps,
  { account, key, model, provider, status, error, tag, outcome, cost_above, from, to }: Static<typeof LiveQuery>,
): Promise<Omit<CallFilter, 'limit' | 'after'>> {
  return {
    ...(account !== undefined && { account: (await accountNamed(deps.store, account)).id }),
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    ...(tag !== undefined && { tag }),
    ...(outcome !== undefined && { outcome }),
    ...(cost_above !== undefined && { costAbove: moneyOf(cost_above, 'cost_above') }),
    ...(from !== undefined && { from: timeOf(from, 'from') }),
    ...(to !== undefined && { to: timeOf(to, 'to') }),
  };
}

async function withDispute(store: Store, call: CallRow | RunningCall): Promise<object> {
  const { saved, providerCost, receipt: _, tags: __, ...rest } = call;
  const amounts = {
    cost: writeMoney(call.cost),
    ...(providerCost !== undefined && { providerCost: writeMoney(providerCost) }),
    ...(saved !== undefined && { saved: writeMoney(saved) }),
  };
  const written = { ...rest, at: writeTime(call.at), ...amounts };
  const dispute = call.outcome === 'disputed' ? await disputeOf(store, call as CallRow) : undefined;
  return dispute ? { ...written, dispute: writeDispute(dispute) } : written;
}
