/** The HTTP edge: routes requests, authenticates keys, and adds CORS headers. */
import { tryDecode } from 'hono/utils/url';
import type { Caller } from '../access/access.ts';
import { type Load, UNCOUNTED } from '../access/work-bounds.ts';
import { asGatewayError, GatewayError } from '../canonical/errors.ts';
import { newId } from '../canonical/id.ts';
import type { Answer } from '../http1/answer.ts';
import type { ClientRequest } from '../http1/client-request.ts';
import type { RequestFault } from '../http1/request-fault.ts';
import type { SignedIn } from '../people/sessions.ts';
import { CONTENT_TYPES, formatFor } from '../telemetry/metrics/exposition.ts';
import { answerJson, answerResponse } from './answers.ts';
import { BegunCall } from './begun-call.ts';
import { readBody } from './bodies/body.ts';
import { createJsonBodies, type JsonBodies } from './bodies/json-bodies.ts';
import { createBodyCheck, createQueryCheck } from './checked.ts';
import { type AddressOf, createAddressReader } from './client-address.ts';
import { presentedKey, queryOf } from './client-key.ts';
import { preflight, shareWithBrowser } from './cors.ts';
import { errorWriterFor } from './families.ts';
import type { HttpDeps } from './http-deps.ts';
import { IncomingRequest } from './incoming.ts';
import { isPlayed, playedBy, playedPath } from './playground.ts';
import { requestError } from './request-error.ts';
import { type AnsweredRoute, type Documented, type PathReading, type RelayedRoute, route } from './route.ts';
import { createRouter, type Router } from './router.ts';
import { refuseStranger } from './routes/status/metrics-guard.ts';
import { ANSWERED_ROUTES, CONSOLE_ROUTES, RELAYED_ROUTES } from './routes.ts';
import { refuseOtherOrigin } from './session-cookie.ts';
import { callerOfPerson, hasSession, personOf } from './signed-in.ts';
import { spellingOf } from './spelling.ts';
import { isOperatorPath, isServed, refuseHost, type Surface } from './surface.ts';
import { nothingAt, noWebSocket, pathMeant, refuseNotOffered } from './unrouted.ts';

export interface Edge {
  /** Answers a request. Never throws or rejects. */
  answer(request: ClientRequest): Promise<Answer>;
  /** Answers bytes that could not be parsed as a request. */
  refuse(fault: RequestFault): Answer;
}

/** `as`: the caller of a request that has a session in the place of a key. */
type Handler = (request: ClientRequest, path: { [name: string]: string }, as?: Caller) => Promise<Answer>;

/** A handler, and how its route reads the parameters of a path. */
interface EdgeRoute {
  reading: PathReading | undefined;
  /** Whether the path as sent spells the route's own words without percent-encoding. */
  isSpelled(sent: string): boolean;
  handle: Handler;
}

/** What a listening address serves. `hosts`: the host names it accepts; absent: all. */
export interface EdgePlace {
  surface: Surface;
  hosts?: ReadonlySet<string>;
}

/** Throws an Error for an invalid setting, or if a route's dialect is missing. */
export function createEdge(given: HttpDeps, { surface, hosts }: EdgePlace = { surface: 'all' }): Edge {
  // Nobody signs in where the console is not served.
  const deps = surface === 'public' ? { ...given, people: undefined, pages: undefined } : given;
  const addressOf = createAddressReader(deps.settings.trustedProxies);
  const bodies = createJsonBodies(deps.settings.jsonBounds);
  const router = createRouter<EdgeRoute>();
  const all = [...ANSWERED_ROUTES, ...(deps.people ? CONSOLE_ROUTES : []), metricsRoute];
  all.push(descriptionRoute(() => [...RELAYED_ROUTES, ...all]));
  const isHere = ({ path }: Documented) => isServed(surface, path);
  // Routes answered here come first: if two routes match a path, each takes only its own paths.
  const add = ({ method, path, reading }: Documented, handle: Handler) =>
    router.add(method, path, { reading, isSpelled: spellingOf(path), handle });
  for (const row of all.filter(isHere)) add(row, answer(deps, row, addressOf, bodies));
  for (const row of RELAYED_ROUTES.filter(isHere)) add(row, relay(deps, row, addressOf, bodies));
  const played = deps.people && playedRouter(deps, addressOf, bodies);

  /** `sent`: the path as it was written. */
  function respond(request: ClientRequest, sent: string, path: string): Answer | Promise<Answer> {
    const { method, target } = request;
    if (hosts) refuseHost(hosts, request.headers.get('host'));
    if (method === 'OPTIONS' && isForBrowsers(path)) return preflight(request);
    if (target.length > MOST_TARGET_BYTES) throw longTarget();
    const row = rowFor(router, method === 'HEAD' ? 'GET' : method, path, sent);
    if (row) return row.handle(request, row.parameters);
    return played && isPlayed(path) ? play(played, request, path) : noRoute(router, request, path);
  }

  /** Authenticated first: without a session nothing about routes is revealed. */
  async function play(routes: Router<EdgeRoute>, request: ClientRequest, outer: string): Promise<Answer> {
    const caller = await playedBy(deps, request);
    const path = playedPath(request, outer);
    const row = rowFor(routes, request.method, path, sentPath(request.target));
    return row ? row.handle(request, row.parameters, caller) : noRoute(routes, request, path);
  }

  /** Operator routes have no CORS headers, so pages of other origins cannot read them. */
  function isForBrowsers(path: string): boolean {
    return surface !== 'operator' && !isOperatorPath(path);
  }

  return {
    async answer(request) {
      const sent = sentPath(request.target);
      const path = pathOf(sent);
      let done: Answer;
      try {
        done = await respond(request, sent, path);
      } catch (thrown) {
        done = failed(deps, request, thrown);
      }
      deps.metrics.answered(done.status);
      return request.headers.has('origin') && isForBrowsers(path) ? shareWithBrowser(done) : done;
    },
    refuse(fault) {
      const error = requestError(fault);
      deps.metrics.answered(error.status);
      return failure('', '', error);
    },
  };
}

/** `sent`: the path before percent-decoding. */
function rowFor(router: Router<EdgeRoute>, method: string, path: string, sent: string) {
  for (const { found, parameters } of router.match(method, path)) {
    if (sent !== path && !found.isSpelled(sent)) throw encodedPath(sent);
    const read = found.reading ? found.reading.read(parameters) : parameters;
    if (read) return { handle: found.handle, parameters: read };
  }
  return undefined;
}

/** The routes of callers, wherever this is served: the playground calls them from the console's own address. */
function playedRouter(deps: HttpDeps, addressOf: AddressOf, bodies: JsonBodies): Router<EdgeRoute> {
  const router = createRouter<EdgeRoute>();
  const add = ({ method, path, reading }: Documented, handle: Handler) =>
    router.add(method, path, { reading, isSpelled: spellingOf(path), handle });
  for (const row of ANSWERED_ROUTES) if (row.gate === 'caller') add(row, answer(deps, row, addressOf, bodies));
  for (const row of RELAYED_ROUTES) add(row, relay(deps, row, addressOf, bodies));
  return router;
}

function relay(deps: HttpDeps, row: RelayedRoute, addressOf: AddressOf, bodies: JsonBodies): Handler {
  const dialect = deps.dialect(row.dialect);
  if (!dialect) throw new Error(`The route ${row.path} needs the dialect "${row.dialect}", which does not exist.`);
  const { maxBodyBytes, uploadFolder } = deps.settings;
  const options = {
    carriers: row.carriers,
    maxBodyBytes,
    bodies,
    ...(row.uploads && { uploads: { folder: uploadFolder } }),
    addressOf,
    now: deps.now,
  };
  return (request, path, as) =>
    deps.gateway.serve(dialect, new IncomingRequest(request, path, as ? { ...options, as } : options));
}

function answer(deps: HttpDeps, row: AnsweredRoute, addressOf: AddressOf, bodies: JsonBodies): Handler {
  const read = async (request: ClientRequest, load: Load) =>
    bodies.admit(await readBody(request, deps.settings.maxBodyBytes, load));
  const readQuery = createQueryCheck(row.query);
  // What callers send to models is theirs, NUL included.
  const takesNul = row.gate === 'caller' ? undefined : (row.takesNul ?? []);
  const checkBody = row.body && createBodyCheck(row.body, takesNul);
  const enter = (request: ClientRequest) => {
    const presented = { key: presentedKey(request, row.carriers), address: addressOf(request) };
    return deps.access.authenticate(presented, deps.now(), row.gate === 'admin' ? 'admin' : 'caller');
  };
  const answered = async (
    request: ClientRequest,
    path: { [name: string]: string },
    caller: Caller | undefined,
    load: Load,
    person?: SignedIn,
    begun?: BegunCall,
  ) => {
    const done = await row.answer(deps, {
      begun,
      path,
      query: readQuery(queryOf(request.target)),
      body: checkBody?.(await read(request, load)),
      headers: request.headers,
      read: () => read(request, load),
      get url() {
        const scheme = deps.settings.isSecure ? 'https' : 'http';
        const url = `${scheme}://${request.headers.get('host') || 'localhost'}${request.target}`;
        return URL.canParse(url) ? url : `http://localhost${request.target}`;
      },
      get address() {
        return addressOf(request);
      },
      client: request,
      get caller() {
        if (caller) return caller;
        throw new Error(`The route ${row.path} is open: it has no caller.`);
      },
      signedIn() {
        if (person) return person;
        throw new GatewayError('sign_in_required', 'Only people who are signed in can use this, not keys.');
      },
    });
    const reply = done instanceof Response ? await answerResponse(done) : answerJson(done);
    reply.headers['x-request-id'] = newId('req_');
    return person ? privately(reply) : reply;
  };
  const handle = async (
    request: ClientRequest,
    path: { [name: string]: string },
    as: Caller | undefined,
    begun?: BegunCall,
  ): Promise<Answer> => {
    // Nobody may be signed in by the page of another origin.
    if (row.gate === 'page') refuseOtherOrigin(request, deps.settings.publicUrl);
    const isPerson = row.gate === 'session' || (row.gate === 'admin' && hasSession(deps, request));
    const person = isPerson ? await personOf(deps, request, row) : undefined;
    const hasKey = !as && !person && (row.gate === 'caller' || row.gate === 'admin');
    const key = hasKey ? await enter(request) : as;
    const caller = person ? callerOfPerson(person) : key;
    if (!caller || row.gate !== 'caller') {
      const done = await answered(request, path, caller, UNCOUNTED, person);
      if (caller && row.gate === 'admin' && row.method !== 'GET') reportChange(deps, row, caller, path);
      return done;
    }
    begun?.sentBy(caller);
    deps.access.allowScope(caller, row.scope);
    const load = deps.access.enter(caller, request.body.length ?? 0);
    try {
      return await answered(request, path, caller, load, undefined, begun);
    } finally {
      load.end();
    }
  };
  const { begins } = row;
  if (!begins) return handle;
  return async (request, path, as) => {
    const format = begins(request.target);
    if (format === undefined) return handle(request, path, as);
    const begun = new BegunCall(deps, format);
    try {
      return await handle(request, path, as, begun);
    } catch (thrown) {
      return failed(deps, request, thrown, begun.failed(thrown));
    }
  };
}

/** `id`: by which the call is found, if it is recorded. */
function failed(deps: HttpDeps, { method, target }: ClientRequest, thrown: unknown, id?: string): Answer {
  const path = pathOf(sentPath(target));
  const error = asGatewayError(thrown);
  if (error.code === 'internal_error') deps.reportError(`${method} ${path} failed.`, error.cause);
  return failure(method, path, error, undefined, id);
}

/** What a person sees must not be kept by the browser or a proxy. */
function privately(reply: Answer): Answer {
  reply.headers['cache-control'] ??= 'no-store';
  return reply;
}

/** An admin's request has been carried out. */
function reportChange(
  deps: HttpDeps,
  { method, path }: Documented,
  { key }: Caller,
  named: { [name: string]: string },
): void {
  deps.events.configChanged({ actor: key, action: `${method} ${path}`, subject: Object.values(named).join('/') });
}

/** The path as it was written. */
function sentPath(target: string): string {
  const query = target.indexOf('?');
  return withoutAlias(query < 0 ? target : target.slice(0, query));
}

function encodedPath(sent: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no route for ${sent}: only parameters of a path may be percent-encoded.`,
  );
}

/** A prefix that Groq's clients use for the same paths. */
const ALIAS = '/openai';

function withoutAlias(path: string): string {
  return path.startsWith('/openai/v1/') ? path.slice(ALIAS.length) : path;
}

/** Invalid escapes are kept as they are. */
function pathOf(sent: string): string {
  if (!sent.includes('%')) return sent;
  // An escaped percent sign stays escaped, because parameters are decoded once more.
  return withoutAlias(tryDecode(sent.replaceAll('%25', '%2525'), decodeURI));
}

/** Searching the route table takes longer for longer paths. */
const MOST_TARGET_BYTES = 8192;

function longTarget(): GatewayError {
  const sentence = `The request target is too long: path and query may have ${MOST_TARGET_BYTES} bytes.`;
  return new GatewayError('invalid_request', sentence, { status: 414 });
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** 405 if the path exists with another method, 426 for a WebSocket on such a path, otherwise 404. */
function noRoute(router: Router<EdgeRoute>, { method, headers }: ClientRequest, path: string): Answer {
  const known: string[] = METHODS.filter((one) => takes(router, one, path));
  if (known.length === 0) {
    refuseNotOffered(path);
    const meant = pathMeant(path, (other) => METHODS.some((one) => takes(router, one, other)));
    return failure(method, meant ?? path, nothingAt(path, meant));
  }
  if (method === 'GET' && headers.get('upgrade')?.toLowerCase() === 'websocket')
    return failure(method, path, noWebSocket(path), { upgrade: 'HTTP/1.1' });
  if (known.includes('GET')) known.push('HEAD');
  const allow = [...known, 'OPTIONS'].join(', ');
  const sentence = `${path} does not support ${method}: use ${allow}.`;
  return failure(method, path, new GatewayError('method_not_allowed', sentence), { allow });
}

function takes(router: Router<EdgeRoute>, method: string, path: string): boolean {
  return router.match(method, path).some(({ found, parameters }) => !found.reading || found.reading.read(parameters));
}

/** The error response in the format of the path's API. */
function failure(
  method: string,
  path: string,
  error: GatewayError,
  headers?: { [name: string]: string },
  id = newId('req_'),
): Answer {
  const { status, body, headers: errorHeaders } = errorWriterFor(method, path)(error, id);
  return { status, headers: { ...errorHeaders, ...headers }, body };
}

const metricsRoute = route('GET', '/metrics', {
  gate: 'open',
  summary:
    'Metrics in the Prometheus text format, or as OpenMetrics if `accept` asks for it. Needs an admin key or the metrics token.',
  answer: async (deps, { headers, address }) => {
    await refuseStranger(deps.settings.metrics, deps, headers, address);
    const format = formatFor(headers.get('accept'));
    return new Response(await deps.metrics.write(deps, format), { headers: { 'content-type': CONTENT_TYPES[format] } });
  },
});

/** The console's own routes belong to its pages and change with them. */
const isDescribed = ({ path }: Documented) => path !== '/console' && !path.startsWith('/console/');

function descriptionRoute(routes: () => readonly Documented[]): AnsweredRoute {
  return route('GET', '/openapi.json', {
    gate: 'open',
    summary: 'This description.',
    answer: async ({ settings: { version, publicUrl } }) => {
      // Loaded on first use, to keep the start fast.
      const { describeRoutes } = await import('./openapi/describe.ts');
      return describeRoutes(routes().filter(isDescribed), { version, url: publicUrl });
    },
  });
}
