/** One route of the edge as a row: its way in, its schemas, and the function that answers it. */
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { Caller } from '../access/access.ts';
import type { Scope } from '../access/scopes.ts';
import type { Carriers } from './client-key.ts';
import type { HttpDeps } from './http-deps.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who may come in: everybody, a caller's key, an admin's key. */
export type Gate = 'open' | 'caller' | 'admin';

/** How a path says what the framework cannot tell apart in it. */
export interface PathReading {
  /** The path as its users know it. */
  shown: string;
  /** The parameters as its users know them; `undefined`: the path is another route's. */
  read(found: { readonly [name: string]: string }): { [name: string]: string } | undefined;
}

/** What documents a route; `path` is as the framework writes it (`:id`, `:name{.+}` for names with slashes). */
export interface Documented {
  method: Method;
  path: string;
  /** Where one parameter of the path holds more than a name. */
  reading?: PathReading;
  gate: Gate;
  /** Where a key is looked for beside the bearer token. */
  carriers: Carriers;
  summary: string;
  query: TObject;
  /** What the edge checks. */
  body: TSchema | undefined;
  /** Absent: the description says it (`openapi/operations.ts`). */
  reply?: TSchema;
}

/** A route that hands the call to the gateway, in the words of one dialect. */
export interface RelayedRoute extends Documented {
  /** Its dialect checks it. */
  body: undefined;
  dialect: string;
  /** The files in its forms are not kept in memory. */
  uploads?: true;
}

/** A route that the edge answers itself. */
export interface AnsweredRoute extends Documented {
  /** What a key that is bound to scopes needs; absent: only a key without scopes comes in. */
  scope: Scope | undefined;
  answer: Answer<unknown, unknown>;
}

/** The answer's body, or a whole Response where it is not JSON with status 200. */
export type Answer<Query, Body> = (deps: HttpDeps, asked: Asked<Query, Body>) => Answered | Promise<Answered>;
type Answered = object | Response;

export interface Asked<Query, Body> {
  path: { [name: string]: string };
  query: Query;
  body: Body;
  headers: Pick<Headers, 'get' | 'has'>;
  /** The request's own address, as the client knows the gateway. */
  readonly url: string;
  /** Reads a body that no schema describes, within its bound. */
  read(): Promise<Uint8Array>;
  /** From where the call came. */
  readonly address: string;
  /** Throws where the gate is open: nobody has said who they are. */
  caller: Caller;
}

interface RouteOptions<Q extends TObject, B extends TSchema> {
  gate: Gate;
  scope?: Scope;
  summary: string;
  reading?: PathReading;
  carriers?: Carriers;
  query?: Q;
  body?: B;
  reply?: TSchema;
  answer: Answer<Static<Q>, Static<B>>;
}

export const NO_QUERY = Type.Object({});

/** A row of the route table; `answer` sees query and body as its schemas say. */
export function route<Q extends TObject = typeof NO_QUERY, B extends TSchema = never>(
  method: Method,
  path: string,
  options: RouteOptions<Q, B>,
): AnsweredRoute {
  const { gate, summary, reply } = options;
  return {
    method,
    path,
    gate,
    scope: options.scope,
    summary,
    ...(reply && { reply }),
    carriers: options.carriers ?? {},
    ...(options.reading && { reading: options.reading }),
    query: options.query ?? NO_QUERY,
    body: options.body,
    // Query and body have passed the schemas that give them these types.
    answer: options.answer as Answer<unknown, unknown>,
  };
}
