/** What is for the operator alone, and at which of the addresses it is served. */
import { GatewayError } from '../canonical/errors.ts';

/** An address serves everything, what clients need, or what the operator needs. */
export type Surface = 'all' | 'public' | 'operator';

/** What stands on every surface: it says who answers, and whether it works. */
const COMMON = new Set(['/', '/health', '/ready']);

export function isOperatorPath(path: string): boolean {
  return path === '/metrics' || path === '/admin' || path.startsWith('/admin/');
}

export function isServed(surface: Surface, path: string): boolean {
  if (surface === 'all' || COMMON.has(path)) return true;
  return isOperatorPath(path) === (surface === 'operator');
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The names under which the operator's own address may be asked for: others are a page's that has its name resolved to this
 * machine. `listens` is the host that is listened on.
 */
export function hostsAllowed(listens: string, named: readonly string[]): ReadonlySet<string> {
  const own = listens.includes(':') ? `[${listens}]` : listens;
  return new Set([...LOOPBACK_NAMES, own, ...named].map((host) => host.toLowerCase()));
}

const PORT = /:\d+$/;

/** Throws `address_not_allowed` where the request names a host that is not among these. */
export function refuseHost(allowed: ReadonlySet<string>, host: string | null): void {
  if (allowed.has((host ?? '').toLowerCase().replace(PORT, ''))) return;
  const sentence = 'This host name is not one of the operator’s: add it to MODELPORT_ADMIN_HOSTS.';
  throw new GatewayError('address_not_allowed', sentence);
}
