/** The type of one row of the route table: path, key, schemas, and handler. */
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { Caller } from '../access/access.ts';
import type { Permission } from '../access/permissions.ts';
import type { Scope } from '../access/scopes.ts';
import type { Client } from '../http1/client-request.ts';
import type { SignedIn } from '../people/sessions.ts';
import type { BegunCall } from './begun-call.ts';
import type { Carriers } from './client-key.ts';
import type { HttpDeps } from './http-deps.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may use the route: everybody (`open`), everybody from the console's own pages (`page`), caller keys, admin keys and people with the
 * permission (`admin`), people alone (`session`).
 */
export type Gate = 'open' | 'page' | 'caller' | 'admin' | 'session';

/** Splits a path whose parameters the router cannot separate. */
export interface PathReading {
  /** The path as documentation shows it. */
  shown: string;
  /** The parameters as documentation names them. `undefined`: the path belongs to another route. */
  read(found: { readonly [name: string]: string }): { [name: string]: string } | undefined;
}

/** The documented part of a route. `path` is written for Hono (`:id`, `:name{.+}` for names with slashes). */
export interface Documented {
  method: Method;
  path: string;
  /** Set if one parameter of the path contains more than one value. */
  reading?: PathReading;
  gate: Gate;
  /** What a person must be allowed to do to use it. Absent at `session`: everybody who is signed in may. Admin keys may do everything. */
  permission?: Permission;
  /** Where the key may be, besides the bearer token. */
  carriers: Carriers;
  summary: string;
  query: TObject;
  /** The schema that the edge checks. */
  body: TSchema | undefined;
  /** Absent: the OpenAPI document defines it (`openapi/describe.ts`). */
  reply?: TSchema;
}

/** A route whose calls go to the gateway in one dialect. */
export interface RelayedRoute extends Documented {
  /** The dialect validates the body. */
  body: undefined;
  dialect: string;
  /** Files in forms are not kept in memory. */
  uploads?: true;
}

/** A route that the edge answers itself. */
export interface AnsweredRoute extends Documented {
  /** The scope that a key needs. Absent: keys with scopes are refused. */
  scope: Scope | undefined;
  /** Members of the body that may contain NUL: the route removes it, or stores nothing of them. Bodies of callers may contain it anywhere. */
  takesNul?: readonly string[];
  answer: RouteHandler<unknown, unknown>;
  /** The API format of the call that this request starts, which is recorded also if it is refused; `undefined`: it starts none. */
  begins?: (target: string) => string | undefined;
}

/** The response body, or a complete Response if it is not JSON with status 200. */
export type RouteHandler<Query, Body> = (
  deps: HttpDeps,
  request: RouteRequest<Query, Body>,
) => Answered | Promise<Answered>;
type Answered = object | Response;

export interface RouteRequest<Query = unknown, Body = unknown> {
  path: { [name: string]: string };
  query: Query;
  body: Body;
  headers: Pick<Headers, 'get' | 'has'>;
  /** The URL of the request as the client sees it. */
  readonly url: string;
  /** Reads a body without a schema, within the size limit. */
  read(): Promise<Uint8Array>;
  /** The client's address. */
  readonly address: string;
  /** Whether the client still waits for the response. */
  readonly client: Pick<Client, 'hasLeft'>;
  /** Of a route that starts calls. */
  readonly begun?: BegunCall | undefined;
  /** Throws if the route is open to everybody: then there is no caller. */
  caller: Caller;
  /** Who is signed in. Throws on routes of other gates, and if the request has a key. */
  signedIn(): SignedIn;
}

/** Every admin route names its permission. */
type Guard =
  | { gate: 'open' | 'page' | 'caller'; permission?: never }
  | { gate: 'session'; permission?: Permission }
  | { gate: 'admin'; permission: Permission };

type RouteOptions<Q extends TObject, B extends TSchema> = Guard & RouteParts<Q, B>;

interface RouteParts<Q extends TObject, B extends TSchema> {
  scope?: Scope;
  summary: string;
  reading?: PathReading;
  carriers?: Carriers;
  query?: Q;
  body?: B;
  takesNul?: readonly string[];
  reply?: TSchema;
  answer: RouteHandler<Static<Q>, Static<B>>;
  begins?: (target: string) => string | undefined;
}

export const NO_QUERY = Type.Object({});

/** A row of the route table. `answer` gets query and body with the types of their schemas. */
export function route<Q extends TObject = typeof NO_QUERY, B extends TSchema = never>(
  method: Method,
  path: string,
  options: RouteOptions<Q, B>,
): AnsweredRoute {
  const { gate, permission, summary, reply } = options;
  return {
    method,
    path,
    gate,
    ...(permission && { permission }),
    scope: options.scope,
    summary,
    ...(reply && { reply }),
    carriers: options.carriers ?? {},
    ...(options.reading && { reading: options.reading }),
    query: options.query ?? NO_QUERY,
    body: options.body,
    ...(options.takesNul && { takesNul: options.takesNul }),
    ...(options.begins && { begins: options.begins }),
    // Safe: query and body were validated against these schemas.
    answer: options.answer as RouteHandler<unknown, unknown>,
  };
}
