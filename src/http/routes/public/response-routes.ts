/** Stored responses: reading, streaming again, deleting, and listing input items. Also token counting. */
import { Type } from 'typebox';
import type { Caller } from '../../../access/access.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import type { Dialect } from '../../../dialects/dialect.ts';
import { loadConversation } from '../../../gateway/prepare/load-conversation.ts';
import type { ResponseRow } from '../../../store/kept.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { countInputTokens, readConversation } from './count-routes.ts';

const DIALECT = 'openai-responses';

const Include = Type.Optional(
  Type.Unknown({ description: 'accepted and ignored; the stored response is always complete' }),
);

const RetrieveQuery = Type.Object({
  stream: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false')])),
  starting_after: Type.Optional(Type.Integer({ minimum: 0, description: 'a sequence number, with `stream`' })),
  include: Include,
  include_obfuscation: Type.Optional(Type.Unknown()),
});

const ItemsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'a number from 1 to 100' })),
  order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
  after: Type.Optional(Type.String({ description: 'the id of an item' })),
  include: Include,
});

// The dialect validates the rest of the conversation.
const CountResponse = Type.Object({ model: Type.String() });

const ItemList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(Type.Object({})),
  first_id: Type.Union([Type.String(), Type.Null()]),
  last_id: Type.Union([Type.String(), Type.Null()]),
  has_more: Type.Boolean(),
});

export const RESPONSE_ROUTES: readonly AnsweredRoute[] = [
  route('POST', '/v1/responses/input_tokens', {
    gate: 'caller',
    scope: 'chat',
    summary: 'Estimates how many tokens a conversation in the Responses format has.',
    body: CountResponse,
    reply: Type.Object({ object: Type.Literal('response.input_tokens'), input_tokens: Type.Integer() }),
    answer: countInput,
  }),
  route('GET', '/v1/responses/:id', {
    gate: 'caller',
    scope: 'chat',
    summary: 'Shows a stored response; with `stream=true` as a stream of events.',
    query: RetrieveQuery,
    answer: async (deps, { path, query, caller }) => {
      const row = await found(deps, caller, path.id);
      const reply: JsonObject = { ...(JSON.parse(row.reply) as JsonObject), output: JSON.parse(row.output) as Json };
      if (query.stream !== 'true') return reply;
      const { keeping } = dialectOf(deps);
      const body = keeping?.replay(reply, query.starting_after ?? -1);
      return new Response(body as Bun.BodyInit, {
        headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
      });
    },
  }),
  route('DELETE', '/v1/responses/:id', {
    gate: 'caller',
    scope: 'chat',
    summary: 'Deletes a stored response; responses that continue it keep its items.',
    reply: Type.Object({ id: Type.String(), object: Type.Literal('response'), deleted: Type.Literal(true) }),
    answer: async (deps, { path, caller }) => {
      const id = path.id ?? '';
      if (!(await deps.memory.forgetResponse(caller.account, id, deps.now()))) throw unknown(id);
      return { id, object: 'response', deleted: true };
    },
  }),
  route('GET', '/v1/responses/:id/input_items', {
    gate: 'caller',
    scope: 'chat',
    summary: 'Lists the input items of a stored response, latest first.',
    query: ItemsQuery,
    reply: ItemList,
    answer: async (deps, { path, query, caller }) => {
      const id = path.id ?? '';
      const rows = await deps.memory.responseChain(caller.account, id, deps.now());
      if (rows.length === 0) throw unknown(id);
      const items = itemsBefore(rows);
      if (query.order !== 'asc') items.reverse();
      return pageOfItems(items, query.limit ?? 20, query.after);
    },
  }),
  route('POST', '/v1/responses/:id/cancel', {
    gate: 'caller',
    scope: 'chat',
    summary: 'Always refused: only background responses can be cancelled, and they are not supported.',
    answer: async (deps, { path, caller }) => {
      await found(deps, caller, path.id);
      throw new GatewayError(
        'invalid_request',
        'Cannot cancel a synchronous response: close its connection to end one that is in progress.',
      );
    },
  }),
];

async function found({ memory, now }: HttpDeps, { account }: Caller, id = ''): Promise<ResponseRow> {
  const row = await memory.response(account, id, now());
  if (!row) throw unknown(id);
  return row;
}

function unknown(id: string): GatewayError {
  return new GatewayError('not_found', `Response with id '${id}' not found.`);
}

/** Everything that the last response of the chain was generated from. */
function itemsBefore(rows: readonly ResponseRow[]): JsonObject[] {
  return rows.flatMap(({ input, output }, index) => [
    ...(JSON.parse(input) as JsonObject[]),
    ...(index < rows.length - 1 ? (JSON.parse(output) as JsonObject[]) : []),
  ]);
}

function pageOfItems(items: readonly JsonObject[], limit: number, after: string | undefined): object {
  const last = after === undefined ? -1 : items.findIndex(({ id }) => id === after);
  if (after !== undefined && last < 0) {
    throw new GatewayError('not_found', `\`after\` is not an item of this response: "${after}".`, { param: 'after' });
  }
  const data = items.slice(last + 1, last + 1 + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: items.length > last + 1 + limit,
  };
}

function dialectOf(deps: HttpDeps): Dialect {
  const dialect = deps.dialect(DIALECT);
  if (!dialect) throw new Error('The dialect of responses is not there.');
  return dialect;
}

async function countInput(deps: HttpDeps, request: RouteRequest): Promise<object> {
  const dialect = dialectOf(deps);
  const { caller } = request;
  const call = readConversation(dialect, request, {});
  const whole = await loadConversation(deps.memory, deps.settings.maxBodyBytes, dialect, call, caller, deps.now());
  return { object: 'response.input_tokens', input_tokens: countInputTokens(deps, caller, whole) };
}
