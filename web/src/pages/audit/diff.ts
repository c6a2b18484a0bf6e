/** What differs between two values of an audit row, member by member. Pure. */
export interface Difference {
  path: string;
  before: string | undefined;
  after: string | undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const written = (value: unknown): string | undefined =>
  value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value);

export function diffOf(before: unknown, after: unknown, path = ''): readonly Difference[] {
  if (isObject(before) || isObject(after)) {
    const [old, fresh] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
    const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
    return names.flatMap((name) => diffOf(old[name], fresh[name], path === '' ? name : `${path}.${name}`));
  }
  const [old, fresh] = [written(before), written(after)];
  return old === fresh ? [] : [{ path, before: old, after: fresh }];
}
