/** The contract of a provider: dialects, addresses, authentication, and quirks as data. No I/O. */
import type { Call, Kind, Reasoning } from '../canonical/call.ts';
import type { Json, JsonObject } from '../canonical/json.ts';
import type { Quirks } from '../dialects/shared/quirks.ts';
import type { Framing } from '../dialects/wire/framing.ts';
import type { Outgoing, Target } from './outgoing.ts';
import type { VideoAdapter } from './video/video.ts';

/** A temporary access token. */
export interface Token {
  value: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** How a long-lived credential is exchanged for a token. */
export interface TokenExchange {
  /** Exchanges with the same key share a token. */
  key: string;
  /** The token request. */
  request(now: number): Outgoing | Promise<Outgoing>;
  /** Reads the response. Returns `undefined` if it has no token. */
  read(status: number, body: Uint8Array, now: number): Token | undefined;
}

/** What `authorize` may use: the time, and tokens that the caller fetches and caches. */
export interface Signing {
  /** Milliseconds since 1970. */
  now(): number;
  /** Throws `upstream_failed` or `upstream_timeout`; the attempt then fails. */
  token(exchange: TokenExchange): Promise<string>;
}

/** How a provider's asynchronous task is polled. */
export interface TaskForm {
  /** Headers of the request that starts the task. */
  readonly headers: { readonly [name: string]: string };
  /** The URL to poll next; `undefined` if this response is final. */
  next(target: Target, answer: JsonObject): string | undefined;
}

export interface Provider {
  /** Its `type` in the configuration. */
  readonly name: string;
  /** The default base URL. Absent if every operator has another. */
  readonly baseUrl?: string;
  /** Derives the base URL from the settings, for example from a region. Returns `undefined` if they do not suffice. */
  addressOf?(settings: Target['settings']): string | undefined;
  /** The environment variable with the provider's key. */
  readonly credentialVariable?: string;
  /** Environment variables with its parts, joined by colons. Used if `credentialVariable` is not set. */
  readonly credentialVariables?: readonly string[];
  /** A path that checks the credential at no cost, below the base URL; the list of models by default. Some list their models without a key. */
  readonly credentialPath?: string;
  /** Where it lists its models, if that is not `/models` below the base URL. */
  modelsUrl?(baseUrl: string): string;
  /** A setting that replaces the key. */
  readonly credentialSetting?: string;
  /** The environment variable with the address of a self-hosted server. */
  readonly baseUrlVariable?: string;
  /** Environment variables for settings; the first one that is set counts. The configuration takes precedence. */
  readonly settingVariables?: { readonly [setting: string]: readonly string[] };
  /** `false`: the provider accepts calls without a credential. */
  readonly needsCredential: boolean;
  /** Callers can request failures, so these cause no cooldown. */
  readonly failsOnRequest?: true;
  /** The dialects for each kind of call. The client's own is used if it is listed, otherwise the first. */
  readonly speaks: Partial<Record<Kind, readonly [string, ...string[]]>>;
  /** Dialects that exist only for models with these names. */
  readonly only?: { readonly [dialect: string]: RegExp };
  /**
   * By dialect: models that accept tools there only without reasoning. `thinks`: they reason by default; `mayThink`:
   * they reason on request.
   */
  readonly unthinkingTools?: { readonly [dialect: string]: { thinks: RegExp; mayThink: RegExp } };
  /** Whether this address serves the dialect, if that depends on the address. */
  serves?(target: Target, dialect: string): boolean;
  url(target: Target, dialect: string, call: Call): string;
  /**
   * Members of the body that this host wants differently than the dialect's own provider. `undefined` removes a member.
   */
  members?(target: Target, dialect: string, call: Call): { [member: string]: Json | undefined };
  /** Dialects whose first response is a task that must be polled. */
  readonly tasks?: { readonly [dialect: string]: TaskForm };
  /** The envelopes around the streams of these dialects. */
  readonly framings?: { readonly [dialect: string]: Framing };
  authorize(outgoing: Outgoing, target: Target, signing: Signing): void | Promise<void>;
  /** How it generates videos. */
  readonly video?: VideoAdapter;
  /** Quirks in chat calls. */
  readonly quirks?: Quirks;
  /** Quirks in calls of other kinds. */
  readonly otherQuirks?: Partial<Record<Exclude<Kind, 'chat'>, Quirks>>;
}

const NO_QUIRKS: Quirks = {};

export function quirksFor(provider: Provider, kind: Kind): Quirks {
  return (kind === 'chat' ? provider.quirks : provider.otherQuirks?.[kind]) ?? NO_QUIRKS;
}

/** The dialect for a call to this model: the client's own if the model has it, otherwise the provider's first. */
export function spokenDialect(provider: Provider, call: Call, own: string, target: Target): string | undefined {
  return servedDialect(provider, call, own, target) ?? provider.speaks[call.kind]?.[0];
}

/** Like `spokenDialect`, but returns `undefined` if no dialect is known to serve this model. */
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
