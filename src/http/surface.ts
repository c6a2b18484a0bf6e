/** Which routes are only for the operator, and at which listening address they are served. */
import { GatewayError } from '../canonical/errors.ts';

/** An address serves everything, the routes for clients, or the routes for the operator. */
export type Surface = 'all' | 'public' | 'operator';

/** Served at every address: name, health and readiness. */
const COMMON = new Set(['/', '/health', '/ready']);

export function isOperatorPath(path: string): boolean {
  return path === '/metrics' || isIn(path, '/admin') || isIn(path, '/console');
}

const isIn = (path: string, folder: string) =>
  path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/');

export function isServed(surface: Surface, path: string): boolean {
  if (surface === 'all' || COMMON.has(path)) return true;
  return isOperatorPath(path) === (surface === 'operator');
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The host names accepted at the operator's address. Others may come from DNS rebinding: a web page whose name resolves to this machine.
 * `listens`: the host that is listened on.
 */
export function hostsAllowed(listens: string, named: readonly string[]): ReadonlySet<string> {
  const own = listens.includes(':') ? `[${listens}]` : listens;
  return new Set([...LOOPBACK_NAMES, own, ...named].map((host) => host.toLowerCase()));
}

const PORT = /:\d+$/;

/** Throws `address_not_allowed` if the request names another host. */
export function refuseHost(allowed: ReadonlySet<string>, host: string | null): void {
  if (allowed.has((host ?? '').toLowerCase().replace(PORT, ''))) return;
  const sentence = "This host name is not allowed for the operator's address: add it to MODELPORT_ADMIN_HOSTS.";
  throw new GatewayError('address_not_allowed', sentence);
}
