/**
 * Which secrets of a stored provider a change keeps. They are never shown completely, so a change may leave them out; and they go to no other
 * address than the one they were given for, or whoever may change a provider could have them sent to a server of their own.
 */
import { lastFour, SECRET_SETTING } from '../canonical/redaction.ts';
import type { ProviderRow } from '../store/catalog-rows.ts';
import type { ProviderDefaults } from './catalog.ts';
import { type ProviderEntry, refuse } from './catalogue.ts';

/**
 * The provider with the secrets that it keeps. `path`: where the entry stands. `defaults`: of its type; with them the change of somebody
 * who may not read the secrets is refused if it takes them to another address.
 */
export function withSecrets(
  entry: ProviderEntry,
  before: ProviderRow | undefined,
  path: string,
  defaults?: ProviderDefaults,
): ProviderRow {
  // Another provider never gets them.
  const stored = before?.type === entry.type ? before : undefined;
  const kept = new Set<string>();
  const settings = Object.entries(entry.settings).map(([name, value]) => {
    if (!SECRET_SETTING.test(name) || !value.startsWith('…')) return [name, value];
    const own = stored?.settings[name];
    const member = `${path}.settings.${name}`;
    // Only as it is shown: whoever could ask for longer endings would learn all of it.
    if (own === undefined || lastFour(own) !== value) refuse(member, `${member} must be given completely`);
    kept.add(`settings.${name}`);
    return [name, own];
  });
  if (entry.credentials === undefined && stored && stored.credentials.length > 0) kept.add('credential');
  const provider = {
    ...entry,
    credentials: entry.credentials ?? stored?.credentials ?? [],
    settings: Object.fromEntries(settings),
  };
  if (defaults) refuseElsewhere(provider, stored, kept, path, defaults);
  return provider;
}

function refuseElsewhere(
  provider: ProviderRow,
  stored: ProviderRow | undefined,
  kept: ReadonlySet<string>,
  path: string,
  defaults: ProviderDefaults,
): void {
  const isMoved = !stored || placeOf(provider, defaults) !== placeOf(stored, defaults);
  const [member] = kept;
  if (isMoved && member !== undefined) {
    const why = 'the stored one is sent only to the address that it was given for';
    refuse(`${path}.${member}`, `${path}.${member} must be given again: ${why}`);
  }
  const usesEnvironment = (row: ProviderRow) =>
    defaults.credential !== undefined &&
    row.credentials.length === 0 &&
    row.settings[defaults.credentialSetting ?? ''] === undefined;
  // What was so before stays so.
  if (!usesEnvironment(provider) || (stored && !isMoved && usesEnvironment(stored))) return;
  if (placeOf(provider, defaults) === placeOf({ settings: {} }, defaults)) return;
  const why = "the environment's key is sent only to the address that is configured with it";
  refuse(`${path}.credential`, `${path}.credential must be given: ${why}`);
}

/** The origins of its addresses. Without a base URL, the type's own or one that its settings determine, which belongs to the same company. */
function placeOf({ baseUrl, settings }: Pick<ProviderRow, 'baseUrl' | 'settings'>, defaults: ProviderDefaults): string {
  const own = originOf(defaults.baseUrl ?? defaults.addressOf?.({ ...defaults.settings, ...settings }) ?? '');
  const origin = originOf(baseUrl ?? '') ?? own;
  const others = Object.entries(settings).map(([name, value]) => [name, originOf(value)]);
  const elsewhere = others.filter(([, there]) => there !== undefined).sort();
  return JSON.stringify([origin === own ? undefined : origin, ...elsewhere]);
}

/** As requests read it: control characters before and in the scheme are left out (`h\tttps:`). */
function originOf(text: string): string | undefined {
  const url = URL.parse(text);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.origin : undefined;
}
