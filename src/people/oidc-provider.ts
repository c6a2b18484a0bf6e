/** Talks to the OIDC provider: discovery, the address of a sign-in, and the claims that an authorization code is exchanged for. */
import type { Configuration, CustomFetch } from 'openid-client';
import type { GuardedFetch } from '../transport/guarded-fetch.ts';
import { type Claims, claimNamed, type OidcSettings } from './oidc-claims.ts';

/** What the browser keeps between the start and the end of a sign-in. */
export interface SignInAttempt {
  state: string;
  nonce: string;
  verifier: string;
}

export interface Identity {
  issuer: string;
  subject: string;
  claims: Claims;
}

export interface OidcProvider {
  /** The provider's page, and what the browser must bring back. Throws `OidcFailure`. */
  start(): Promise<{ url: string; attempt: SignInAttempt }>;
  /** Who has signed in. `query`: of the request by which the provider sent the person back. Throws `OidcFailure`. */
  finish(query: URLSearchParams, attempt: SignInAttempt): Promise<Identity>;
}

export type OidcProblem = 'provider_unavailable' | 'sign_in_failed';

/** A sign-in that failed at the provider or before it was reached. */
export class OidcFailure extends Error {
  override name = 'OidcFailure';
  readonly problem: OidcProblem;
  constructor(problem: OidcProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.problem = problem;
  }
}

/** The provider did not answer, or answered with a fault of its own. */
class Unreachable extends Error {
  override name = 'Unreachable';
}

export interface OidcProviderDeps {
  guard: Pick<GuardedFetch, 'send'>;
  now(): number;
}

const TIMEOUT_MS = 10_000;
/** Of discovery, keys, tokens and claims. */
const MOST_BYTES = 1_000_000;
/** A provider that is down is requested once in this time. */
const RETRY_MS = 3000;
/** Endpoints of a provider change rarely. */
const KNOWN_MS = 3_600_000;
/** Callbacks that are being checked at the same time: each sends requests to the provider. So many that a client alone hardly keeps out others. */
const AT_ONCE = 200;

/** Loaded on first use: few gateways have an OIDC provider. */
const library = () => import('openid-client');

export function createOidcProvider(settings: OidcSettings, { guard, now }: OidcProviderDeps): OidcProvider {
  let found: { at: number; configuration: Promise<Configuration> } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let running = 0;

  const request: CustomFetch = async (url, { method, headers, body, signal }) => {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const given = { method, headers, ...(body != null && { body: String(body) }), maxBytes: MOST_BYTES };
    try {
      const answer = await guard.send(url, given, either);
      if (answer.status >= 500) throw new Error(`The provider answered with status ${answer.status}.`);
      const hasBody = ![204, 205, 304].includes(answer.status);
      return new Response(hasBody ? answer.bytes : null, { status: answer.status, headers: answer.headers });
    } catch (thrown) {
      throw new Unreachable(thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
    }
  };

  async function discover(): Promise<Configuration> {
    const client = await library();
    const { issuer, clientId, clientSecret, clientAuth } = settings;
    const withSecret = clientAuth === 'basic' ? client.ClientSecretBasic : client.ClientSecretPost;
    const auth = clientSecret === undefined ? client.None() : withSecret(clientSecret);
    const execute = [client.enableNonRepudiationChecks];
    // The settings accept http only for the loopback address.
    if (issuer.startsWith('http:')) execute.push(client.allowInsecureRequests);
    return client.discovery(new URL(issuer), clientId, undefined, auth, { execute, [client.customFetch]: request });
  }

  async function configuration(): Promise<Configuration> {
    if (found && found.at > now() - KNOWN_MS) return found.configuration;
    if (failedAt > now() - RETRY_MS)
      throw new OidcFailure('provider_unavailable', 'The provider was not reached just now.');
    const discovery = { at: now(), configuration: discover() };
    found = discovery;
    try {
      return await discovery.configuration;
    } catch (thrown) {
      if (found === discovery) found = undefined;
      failedAt = now();
      throw new OidcFailure('provider_unavailable', 'The OIDC provider cannot be used: its discovery failed.', thrown);
    }
  }

  /** Some providers have e-mail address and groups only in the userinfo response. */
  async function claimsOf(config: Configuration, token: string, own: Claims, subject: string): Promise<Claims> {
    const needed = ['email', ...(settings.roles.length > 0 ? [settings.roleClaim] : [])];
    const isComplete = needed.every((name) => claimNamed(own, name) !== undefined);
    if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) return own;
    const more = await (await library()).fetchUserInfo(config, token, subject);
    // Whether an address is verified is in the same response as the address.
    const { email, email_verified } = own.email === undefined ? (more as Claims) : own;
    return { ...more, ...own, email, email_verified };
  }

  return {
    async start() {
      const [client, config] = [await library(), await configuration()];
      const attempt = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: settings.redirectUri,
        scope: settings.scope,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, attempt };
    },
    async finish(query, { state, nonce, verifier }) {
      if (running >= AT_ONCE) throw new OidcFailure('provider_unavailable', 'Too many people are signing in.');
      running++;
      try {
        const [client, config] = [await library(), await configuration()];
        const url = new URL(settings.redirectUri);
        url.search = query.toString();
        const tokens = await client.authorizationCodeGrant(config, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const own = tokens.claims() as Claims & { iss: string; sub: string };
        const claims = await claimsOf(config, tokens.access_token, own, own.sub);
        return { issuer: own.iss, subject: own.sub, claims };
      } catch (thrown) {
        throw failureOf(thrown);
      } finally {
        running--;
      }
    },
  };
}

function failureOf(thrown: unknown): OidcFailure {
  if (thrown instanceof OidcFailure) return thrown;
  for (let cause = thrown; cause instanceof Error; cause = cause.cause)
    if (cause instanceof Unreachable) return new OidcFailure('provider_unavailable', cause.message, thrown);
  return new OidcFailure('sign_in_failed', thrown instanceof Error ? thrown.message : String(thrown), thrown);
}
