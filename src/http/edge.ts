/** The edge: the route table on the web framework, with keys, errors and browsers seen to in one place. */
import { Hono, type MiddlewareHandler } from 'hono';
import { Type } from 'typebox';
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import type { KeyKind } from '../store/store.ts';
import { readBody } from './body.ts';
import { createBodyCheck, createQueryCheck } from './checked.ts';
import { type AddressOf, createAddressReader } from './client-address.ts';
import { clientKey, queryOf } from './client-key.ts';
import { preflight, shareWithBrowser } from './cors.ts';
import { errorWriterFor } from './families.ts';
import { incomingOf } from './incoming.ts';
import { refuseStranger } from './metrics-guard.ts';
import { describeRoutes } from './openapi.ts';
import type { PeerServer, Rooms } from './rooms.ts';
import { type AnsweredRoute, type Documented, type RelayedRoute, route } from './route.ts';
import { ANSWERED_ROUTES, RELAYED_ROUTES } from './routes.ts';

export interface Edge {
  fetch(request: Request, server: PeerServer): Response | Promise<Response>;
}

/** The framework's `env` is the server, for the peer's address. */
type App = Hono<{ Bindings: PeerServer }>;
type Handler = MiddlewareHandler<{ Bindings: PeerServer }>;

/** Throws a sentence where a setting is wrong or a route's dialect is missing. */
export function createEdge(rooms: Rooms): Edge {
  const addressOf = createAddressReader(rooms.settings.trustedProxies);
  const app: App = new Hono();
  const answered = [...ANSWERED_ROUTES, metricsRoute];
  answered.push(descriptionRoute([...RELAYED_ROUTES, ...answered]));
  // What is answered here goes first: of a path that both have it takes only what is its own.
  for (const row of answered) app.on(row.method, row.path, answer(rooms, row, addressOf));
  for (const row of RELAYED_ROUTES) app.on(row.method, row.path, relay(rooms, row, addressOf));
  app.notFound((c) => noRoute(app, c.req.raw, c.req.path));
  app.onError((thrown, c) => {
    const error = asGatewayError(thrown);
    if (error.code === 'internal_error') rooms.trouble(`${c.req.method} ${c.req.path} failed.`, error.cause);
    return failure(c.req.raw, error);
  });

  return {
    fetch(request, server) {
      if (request.method === 'OPTIONS') return preflight(request);
      const response = app.fetch(request, server);
      const finish = (done: Response) => {
        rooms.metrics.answered(done.status);
        return request.headers.has('origin') ? shareWithBrowser(done) : done;
      };
      return response instanceof Promise ? response.then(finish) : finish(response);
    },
  };
}

const NO_PARAMETERS: { [name: string]: string } = {};

function relay(rooms: Rooms, row: RelayedRoute, addressOf: AddressOf): Handler {
  const dialect = rooms.dialect(row.dialect);
  if (!dialect) throw new Error(`The route ${row.path} needs the dialect "${row.dialect}", which is not there.`);
  const options = { carriers: row.carriers, maxBodyBytes: rooms.settings.maxBodyBytes, addressOf, now: rooms.now };
  const hasParameters = row.path.includes(':');
  return (c, next) => {
    const found = hasParameters ? c.req.param() : NO_PARAMETERS;
    const path = row.reading ? row.reading.read(found) : found;
    return path ? rooms.gateway.serve(dialect, incomingOf(c.req.raw, c.env, path, options)) : next();
  };
}

function answer(rooms: Rooms, row: AnsweredRoute, addressOf: AddressOf): Handler {
  const readQuery = createQueryCheck(row.query);
  const checkBody = row.body && createBodyCheck(row.body);
  const enter = (kind: KeyKind, request: Request, server: PeerServer) => {
    const presented = { key: clientKey(request, row.carriers), address: addressOf(request, server) };
    return rooms.access.authenticate(presented, rooms.now(), kind);
  };
  return async (c, next) => {
    const path = row.reading ? row.reading.read(c.req.param()) : c.req.param();
    if (!path) return next();
    const request = c.req.raw;
    const caller = row.gate === 'open' ? undefined : await enter(row.gate, request, c.env);
    if (caller && row.gate === 'caller') rooms.access.allowScope(caller, row.scope);
    const done = await row.answer(rooms, {
      path,
      query: readQuery(queryOf(request.url)),
      body: checkBody?.(await readBody(request, rooms.settings.maxBodyBytes)),
      headers: request.headers,
      url: request.url,
      read: () => readBody(request, rooms.settings.maxBodyBytes),
      get address() {
        return addressOf(request, c.env);
      },
      get caller() {
        if (caller) return caller;
        throw new Error(`The route ${row.path} is open: it has no caller.`);
      },
    });
    const response = done instanceof Response ? done : Response.json(done);
    response.headers.set('x-request-id', newId('req_'));
    return response;
  };
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** 405 where the path is known with another method, else 404. */
function noRoute(app: App, request: Request, path: string): Response {
  const known: string[] = METHODS.filter((method) => app.router.match(method, path)[0].length > 0);
  if (known.length === 0) {
    const sentence = `There is nothing at ${path}. GET /openapi.json lists what there is.`;
    return failure(request, new GatewayError('not_found', sentence));
  }
  if (known.includes('GET')) known.push('HEAD');
  const allow = [...known, 'OPTIONS'].join(', ');
  const sentence = `${path} does not take ${request.method}: it takes ${allow}.`;
  return failure(request, new GatewayError('method_not_allowed', sentence), { allow });
}

/** A failure in the shape of its path's family. */
function failure(request: Request, error: GatewayError, headers?: { [name: string]: string }): Response {
  const {
    status,
    body,
    headers: said,
  } = errorWriterFor(request.method, new URL(request.url).pathname)(error, newId('req_'));
  return new Response(body as Bun.BodyInit, { status, headers: { ...said, ...headers } });
}

const metricsRoute = route('GET', '/metrics', {
  gate: 'open',
  summary: 'Counters and gauges as Prometheus reads them (text, not JSON), for this machine or with the metrics token.',
  reply: Type.String(),
  answer: async (rooms, { headers, address }) => {
    refuseStranger(rooms.settings.metricsToken, headers, address);
    return new Response(await rooms.metrics.write(rooms), {
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    });
  },
});

function descriptionRoute(routes: readonly Documented[]): AnsweredRoute {
  return route('GET', '/openapi.json', {
    gate: 'open',
    summary: 'This description.',
    reply: Type.Object({}),
    answer: ({ settings }) => describeRoutes(routes, settings.version),
  });
}
