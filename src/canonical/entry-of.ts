/** What a table has for a name that a client or provider has chosen, without what every object has (`constructor`, `toString`). */
export function entryOf<Value>(table: { readonly [name: string]: Value }, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
