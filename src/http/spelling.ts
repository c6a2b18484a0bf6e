/**
 * Which spelling of a path a route takes. The words of a route are letters that need no percent-encoding: who encodes them all the same
 * (`/%61dmin`) would pass a proxy whose rule for `/admin` compares what was sent. Only parameters may be encoded.
 */

/** `pattern`: a route's path as the framework writes it. The test is for paths as sent that the route's pattern fits once decoded. */
export function spellingOf(pattern: string): (sent: string) => boolean {
  const parts = pattern.split('/');
  const prefix = pattern.split(':')[0] ?? '';
  const last = parts.findLastIndex((part) => part.startsWith(':'));
  if (last < 0) return (sent) => sent === pattern;
  const end = parts.slice(last + 1);
  const suffix = end.length > 0 ? `/${end.join('/')}` : '';
  return (sent) => sent.startsWith(prefix) && sent.endsWith(suffix);
}
