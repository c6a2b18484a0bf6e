/** Admin API: what would happen to a request now, and why. */
import { type Static, Type } from 'typebox';
import { type Caller, callerOf } from '../../../access/access.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { writeMoney } from '../../../canonical/money.ts';
import { writePeoplesPrice } from '../../../catalog/price-text.ts';
import type { ExplainedModel } from '../../../gateway/admit/explain.ts';
import type { ExplainedCheck } from '../../../gateway/admit/explain-checks.ts';
import { named } from '../../fields/named.ts';
import { Usd } from '../../fields/usd.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';

const ExplainedRequest = Type.Object(
  {
    key: Type.Optional(Type.String({ description: "a key's id; without one, a key that may call everything" })),
    format: Type.Optional(Type.String({ description: 'the API format of the request, openai-chat by default' })),
    request: Type.Object({}, { description: 'the body of the request' }),
    headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'headers of the request' })),
    path: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'parameters of its path, such as {"model": "…"}' }),
    ),
  },
  { additionalProperties: false },
);
type ExplainedRequest = Static<typeof ExplainedRequest>;

const Failure = Type.Object({
  code: Type.String(),
  status: Type.Integer(),
  message: Type.String(),
  param: Type.Optional(Type.String()),
  retryAfterSeconds: Type.Optional(Type.Integer()),
});

/** A count, or an amount in USD. */
const Figure = Type.Optional(Type.Union([Type.Number(), Usd]));

const Check = Type.Object({
  check: Type.String({
    description: 'key, concurrency, requestsPerMinute, tokensPerMinute, balance or budget',
  }),
  of: Type.String({ description: 'key or account' }),
  window: Type.Optional(Type.String({ description: 'of a budget: total, day or month' })),
  limit: Figure,
  used: Figure,
  needs: Figure,
  passes: Type.Boolean(),
  reason: Type.String(),
});

const Explained = named('RoutingExplanation', {
  asked: Type.String(),
  foundBy: Type.Optional(Type.String({ description: 'name, alias, wildcard or suffix' })),
  wishes: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  models: Type.Array(
    Type.Object({
      name: Type.String(),
      on: Type.Optional(Type.Array(Type.String())),
      price: Type.Record(Type.String(), Type.Unknown()),
      priceId: Type.String(),
      estimatedInputTokens: Type.Optional(Type.Integer()),
      amount: Type.Optional(Usd),
      targets: Type.Array(
        Type.Object({
          provider: Type.String(),
          type: Type.String(),
          model: Type.String(),
          priority: Type.Integer(),
          weight: Type.Number(),
          reason: Type.Optional(Type.String()),
          format: Type.Optional(Type.String()),
        }),
      ),
      excluded: Type.Optional(Type.Array(Type.Object({ target: Type.String(), reason: Type.String() }))),
      error: Type.Optional(Failure),
    }),
  ),
  cache: Type.Optional(Type.String({ description: 'of a key with a cache: hit, miss or bypass' })),
  hold: Type.Optional(Usd),
  available: Usd,
  checks: Type.Array(Check),
  error: Type.Optional(Failure),
});

export const EXPLAIN_ROUTES: readonly AnsweredRoute[] = [
  route('POST', '/admin/v1/routing/explain', {
    gate: 'admin',
    permission: 'supply:read',
    summary:
      'Explains what would happen to a request now: model, targets in order, price, what would be held, what limits, balance and budgets say, and the error if it would be refused. Nothing is sent, held or counted.',
    body: ExplainedRequest,
    takesNul: ['request', 'headers', 'path'],
    reply: Explained,
    answer: explainRequest,
  }),
];

async function explainRequest(
  deps: HttpDeps,
  { body, caller }: RouteRequest<unknown, ExplainedRequest>,
): Promise<object> {
  const format = body.format ?? 'openai-chat';
  const dialect = deps.dialect(format);
  if (!dialect) {
    throw new GatewayError('invalid_request', `"format" names no API format: "${format}".`, { param: 'format' });
  }
  const { hold, available, models, checks, ...rest } = await deps.gateway.explain(
    dialect,
    await callerNamed(deps, body.key, caller),
    {
      body: new TextEncoder().encode(JSON.stringify(body.request as JsonObject)),
      headers: headersOf(body),
      path: body.path ?? {},
      query: new URLSearchParams(),
    },
  );
  return {
    ...rest,
    models: models.map(writeModel),
    ...(hold !== undefined && { hold: writeMoney(hold) }),
    available: writeMoney(available),
    checks: checks.map(writeCheck),
  };
}

/** Throws `invalid_request` for what HTTP does not allow in a name or value: a real request could not contain it. */
function headersOf({ headers = {} }: ExplainedRequest): Headers {
  const read = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    try {
      read.append(name, value);
    } catch {
      const message = `"headers": ${JSON.stringify(name)} is not a valid header, or its value has characters that HTTP does not allow.`;
      throw new GatewayError('invalid_request', message, { param: 'headers' });
    }
  }
  return read;
}

function writeCheck({ limit, used, needs, ...check }: ExplainedCheck): object {
  const written = (figure: number | bigint | undefined) => (typeof figure === 'bigint' ? writeMoney(figure) : figure);
  return { ...check, limit: written(limit), used: written(used), needs: written(needs) };
}

/** Without a key: one of the admin's account, without its limits. */
async function callerNamed({ store }: HttpDeps, id: string | undefined, { row: own, permissions }: Caller) {
  const row = id === undefined && permissions ? own : await store.keyById(id ?? own.id);
  if (!row) throw new GatewayError('not_found', `There is no key with the id "${id}".`, { param: 'key' });
  const shown = id === undefined ? { ...row, kind: 'caller' as const } : row;
  return callerOf(shown, await store.account(row.account));
}

function writeModel({ price, amount, ...model }: ExplainedModel): object {
  return { ...model, price: writePeoplesPrice(price), ...(amount !== undefined && { amount: writeMoney(amount) }) };
}
