/**
 * Refuses percent-encoded route words. Route words need no encoding. A client that encodes them (`/%61dmin`) could pass a proxy whose rule
 * for `/admin` compares the raw path. Only parameters may be encoded.
 */

/** `pattern`: a route's path as Hono writes it. The returned function tests a raw path whose decoded form matches that route. */
export function spellingOf(pattern: string): (sent: string) => boolean {
  const parts = pattern.split('/');
  const prefix = pattern.split(':')[0] ?? '';
  const last = parts.findLastIndex((part) => part.startsWith(':'));
  if (last < 0) return (sent) => sent === pattern;
  const end = parts.slice(last + 1);
  const suffix = end.length > 0 ? `/${end.join('/')}` : '';
  return (sent) => sent.startsWith(prefix) && sent.endsWith(suffix);
}
