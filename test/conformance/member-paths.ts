/** The members of JSON as paths: `choices[].message.content`; an object with a `type` as `content[]<text>.citations`. */

/** Their content belongs to a client, tool or model, not to the format. */
const OPAQUE = new Set([
  ...['args', 'input', 'parameters', 'schema', 'metadata', 'arguments', 'response', 'partialArgs', 'bytes', 'labels'],
  ...['input_schema', 'json_schema', 'extra_content', 'logit_bias', 'queries', 'action', 'results', 'partial_json'],
]);

/** Adds the paths of all members in `value`, and for null members also the path with `=null`. */
export function addPaths(value: unknown, found: Set<string>, path = ''): void {
  if (Array.isArray(value)) {
    for (const item of value) addPaths(item, found, `${path}[]`);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const { type } = value as { type?: unknown };
  const at = typeof type === 'string' ? `${path}<${type}>` : path;
  for (const [member, inner] of Object.entries(value)) {
    const below = at === '' ? member : `${at}.${member}`;
    found.add(below);
    if (inner === null) found.add(`${below}=null`);
    else if (!OPAQUE.has(member)) addPaths(inner, found, below);
  }
}

/** The JSON in a body: the whole body, or what follows `data:` in each line. */
export function payloadsIn(body: string): unknown[] {
  const whole = parsed(body);
  if (whole !== undefined) return Array.isArray(whole) ? whole : [whole];
  return body.split(/\r?\n/).flatMap((line) => {
    const payload = line.startsWith('data:') ? parsed(line.slice('data:'.length)) : undefined;
    return payload === undefined ? [] : [payload];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
