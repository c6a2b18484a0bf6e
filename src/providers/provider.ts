/** The contract of a provider: a dialect, an address, a signature; deviations are data. No I/O. */
import type { Call, Kind, Reasoning } from '../canonical/call.ts';
import type { Json, JsonObject } from '../canonical/json.ts';
import type { Quirks } from '../dialects/dialect.ts';
import type { Framing } from '../dialects/wire/framing.ts';
import type { Outgoing, Target } from './outgoing.ts';
import type { VideoAdapter } from './video/video.ts';

export type { Outgoing, Target } from './outgoing.ts';

/** Something that opens doors for a while. */
export interface Token {
  value: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** How a lasting credential is exchanged for a token. */
export interface TokenExchange {
  /** The same key, the same token. */
  key: string;
  /** The request that asks for it. */
  request(now: number): Outgoing | Promise<Outgoing>;
  /** Reads the answer; `undefined` where it holds no token. */
  read(status: number, body: Uint8Array, now: number): Token | undefined;
}

/** What a provider is given to sign with: the time, and tokens that somebody else fetches and keeps. */
export interface Signing {
  /** Milliseconds since 1970. */
  now(): number;
  /** Throws `upstream_failed` or `upstream_timeout`: an attempt that failed. */
  token(exchange: TokenExchange): Promise<string>;
}

/** How a provider is asked after work it has taken on. */
export interface TaskForm {
  /** Sent along with the work. */
  readonly headers: { readonly [name: string]: string };
  /** Where to ask after it next; nothing: this answer is the last word. */
  next(target: Target, answer: JsonObject): string | undefined;
}

export interface Provider {
  /** The `type` that names it in the configuration. */
  readonly name: string;
  /** Where the provider answers unless told otherwise; absent where only the operator knows. */
  readonly baseUrl?: string;
  /** The same where the settings (a region) decide it; nothing where they do not say enough. */
  addressOf?(settings: Target['settings']): string | undefined;
  /** Variable of the environment that holds the provider's key. */
  readonly credentialVariable?: string;
  /** Variables that hold its parts, joined by colons, where that one is not set. */
  readonly credentialVariables?: readonly string[];
  /** A setting that stands for the key where it is there. */
  readonly credentialSetting?: string;
  /** Variable of the environment that holds the address of a server one runs oneself. */
  readonly baseUrlVariable?: string;
  /** Variables of the environment that hold settings, the first that is set: what the provider's own row says goes before. */
  readonly settingVariables?: { readonly [setting: string]: readonly string[] };
  /** `false`: the provider may be called without a credential. */
  readonly needsCredential: boolean;
  /** Callers make it fail by asking for it: its failures put no target into cooldown. */
  readonly failsOnRequest?: true;
  /** The client's own dialect if listed, else the first. */
  readonly speaks: Partial<Record<Kind, readonly [string, ...string[]]>>;
  /** Dialects that only models of these names speak, and the others do not. */
  readonly only?: { readonly [dialect: string]: RegExp };
  /** By dialect, models that take tools there only while they do not think: unless told to, or unless told not to. */
  readonly unthinkingTools?: { readonly [dialect: string]: { thinks: RegExp; mayThink: RegExp } };
  /** Whether this dialect is spoken at this address, where that depends on it. */
  serves?(target: Target, dialect: string): boolean;
  url(target: Target, dialect: string, call: Call): string;
  /** Members of a body that this host wants otherwise than the dialect's own provider: set, or left out (`undefined`). */
  members?(target: Target, dialect: string, call: Call): { [member: string]: Json | undefined };
  /** Dialects whose first answer is a ticket: the work is asked after until it is done. */
  readonly tasks?: { readonly [dialect: string]: TaskForm };
  /** Envelopes around the streams of these dialects. */
  readonly framings?: { readonly [dialect: string]: Framing };
  authorize(outgoing: Outgoing, target: Target, signing: Signing): void | Promise<void>;
  /** How it makes videos, where it does. */
  readonly video?: VideoAdapter;
  /** Its deviations in conversations. */
  readonly quirks?: Quirks;
  /** Its deviations in calls of other kinds. */
  readonly otherQuirks?: Partial<Record<Exclude<Kind, 'chat'>, Quirks>>;
}

const NO_QUIRKS: Quirks = {};

export function quirksFor(provider: Provider, kind: Kind): Quirks {
  return (kind === 'chat' ? provider.quirks : provider.otherQuirks?.[kind]) ?? NO_QUIRKS;
}

/** The dialect in which to ask this model: the client's own where the provider's model speaks it, else the first it speaks. */
export function spokenDialect(provider: Provider, call: Call, own: string, target: Target): string | undefined {
  return servedDialect(provider, call, own, target) ?? provider.speaks[call.kind]?.[0];
}

/** The same; nothing where no dialect is known to serve this model. */
export function servedDialect(provider: Provider, call: Call, own: string, target: Target): string | undefined {
  const spoken = provider.speaks[call.kind];
  if (!spoken) return undefined;
  const knows = (dialect: string) =>
    spoken.includes(dialect) &&
    (provider.only?.[dialect]?.test(target.model) ?? true) &&
    (provider.serves?.(target, dialect) ?? true) &&
    !(call.kind === 'chat' && call.tools.length > 0 && refusesTools(provider, dialect, target.model, call.reasoning));
  return knows(own) ? own : spoken.find(knows);
}

function refusesTools(provider: Provider, dialect: string, model: string, reasoning: Reasoning = {}): boolean {
  const rule = provider.unthinkingTools?.[dialect];
  if (!rule) return false;
  const { effort, budgetTokens = 0, adaptive = false } = reasoning;
  const asked = effort === undefined ? budgetTokens > 0 || adaptive : effort !== 'none';
  return rule.thinks.test(model) ? effort !== 'none' : asked && rule.mayThink.test(model);
}
