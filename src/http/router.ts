/** Finds the routes for a method and path. Uses only the router of Hono. */
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { SmartRouter } from 'hono/router/smart-router';
import { TrieRouter } from 'hono/router/trie-router';
import { tryDecode } from 'hono/utils/url';

export interface Router<T> {
  /** Call before the first `match`. `path` is written for Hono (`:id`, `:name{.+}` for names with slashes). */
  add(method: string, path: string, entry: T): void;
  /** The matching routes in the order they were added, with the path's parameters. */
  match(method: string, path: string): readonly Match<T>[];
}

export interface Match<T> {
  found: T;
  parameters: { [name: string]: string };
}

export function createRouter<T>(): Router<T> {
  const router = new SmartRouter<T>({ routers: [new RegExpRouter<T>(), new TrieRouter<T>()] });
  /** Cached matches of paths without parameters, by method. */
  const plain = new Map<string, Map<string, readonly Match<T>[]>>();
  return {
    add(method, path, entry) {
      router.add(method, path, entry);
      if (!path.includes(':') && !plain.has(path)) plain.set(path, new Map());
    },
    match(method, path) {
      const known = plain.get(path);
      const matched = known?.get(method);
      if (matched) return matched;
      const matches = found(router, method, path);
      // Unknown methods are not cached: a client can invent any number of them.
      if (matches.length > 0) known?.set(method, matches);
      return matches;
    },
  };
}

function found<T>(router: SmartRouter<T>, method: string, path: string): Match<T>[] {
  const [entries, values] = router.match(method, path);
  return entries.map(([entry, places]) => ({ found: entry, parameters: parametersOf(places, values) }));
}

/** Hono returns values, or indexes into a list of values. */
function parametersOf(
  places: { readonly [name: string]: string | number },
  values: readonly string[] | undefined,
): { [name: string]: string } {
  const parameters: { [name: string]: string } = {};
  for (const [name, place] of Object.entries(places)) {
    const value = typeof place === 'number' ? values?.[place] : place;
    if (value !== undefined) parameters[name] = value.includes('%') ? decoded(value) : withoutNul(value);
  }
  return parameters;
}

/** What cannot be decoded stays as it is; so does NUL, which no id has and Postgres takes in no text. */
function decoded(value: string): string {
  const text = tryDecode(value, decodeURIComponent);
  return text.includes('\0') ? withoutNul(value) : text;
}

/** The whole path was decoded before it was matched, and NUL with it. */
const withoutNul = (value: string): string => (value.includes('\0') ? value.replaceAll('\0', '%00') : value);
