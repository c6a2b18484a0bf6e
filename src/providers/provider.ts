/** The contract of a vendor: a dialect, an address, a signature; deviations are data. No I/O. */
import type { Call, Kind, Reasoning } from '../canonical/call.ts';
import type { Quirks } from '../dialects/dialect.ts';

/** Where a call goes: one upstream model at one configured provider. */
export interface Target {
  /** The vendor's name of the model. */
  model: string;
  /** As the vendor's official library takes it, without a trailing slash. */
  baseUrl: string;
  credential: string | undefined;
  /** Settings only this vendor has (`apiVersion`, `region`, `project` …). */
  settings: { readonly [name: string]: string };
}

/** A request on its way out. Header names are lower-case. */
export interface Outgoing {
  method: string;
  url: string;
  headers: { [name: string]: string };
  body: Uint8Array | undefined;
}

export interface Provider {
  /** The `type` that names it in the configuration. */
  readonly name: string;
  /** Where the vendor answers unless told otherwise; absent where only the operator knows. */
  readonly baseUrl?: string;
  /** Variable of the environment that holds the vendor's key. */
  readonly credentialVariable?: string;
  /** Variable of the environment that holds the address of a server one runs oneself. */
  readonly baseUrlVariable?: string;
  /** `false`: the vendor may be called without a credential. */
  readonly needsCredential: boolean;
  /** The client's own dialect if listed, else the first. */
  readonly speaks: Partial<Record<Kind, readonly [string, ...string[]]>>;
  /** Dialects that only models of these names speak, and the others do not. */
  readonly only?: { readonly [dialect: string]: RegExp };
  /** By dialect, models that take tools there only while they do not think: unless told to, or unless told not to. */
  readonly unthinkingTools?: { readonly [dialect: string]: { thinks: RegExp; mayThink: RegExp } };
  url(target: Target, dialect: string, call: Call): string;
  authorize(outgoing: Outgoing, target: Target): void | Promise<void>;
  /** Its deviations in conversations. */
  readonly quirks?: Quirks;
  /** Its deviations in calls of other kinds. */
  readonly otherQuirks?: Partial<Record<Exclude<Kind, 'chat'>, Quirks>>;
}

const NO_QUIRKS: Quirks = {};

export function quirksFor(provider: Provider, kind: Kind): Quirks {
  return (kind === 'chat' ? provider.quirks : provider.otherQuirks?.[kind]) ?? NO_QUIRKS;
}

/** The dialect in which to ask this model: the client's own where the vendor's model speaks it, else the first it speaks. */
export function spokenDialect(provider: Provider, call: Call, own: string, model: string): string | undefined {
  const spoken = provider.speaks[call.kind];
  if (!spoken) return undefined;
  const knows = (dialect: string) =>
    spoken.includes(dialect) &&
    (provider.only?.[dialect]?.test(model) ?? true) &&
    !(call.kind === 'chat' && call.tools.length > 0 && refusesTools(provider, dialect, model, call.reasoning));
  return knows(own) ? own : (spoken.find(knows) ?? spoken[0]);
}

function refusesTools(provider: Provider, dialect: string, model: string, reasoning: Reasoning = {}): boolean {
  const rule = provider.unthinkingTools?.[dialect];
  if (!rule) return false;
  const { effort, budgetTokens = 0, adaptive = false } = reasoning;
  const asked = effort === undefined ? budgetTokens > 0 || adaptive : effort !== 'none';
  return rule.thinks.test(model) ? effort !== 'none' : asked && rule.mayThink.test(model);
}
