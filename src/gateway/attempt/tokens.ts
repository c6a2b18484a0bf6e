/** Access tokens that are exchanged for a long-lived credential: fetched, cached, renewed before they expire. */
import { GatewayError } from '../../canonical/errors.ts';
import type { Signing, Token, TokenExchange } from '../../providers/provider.ts';
import { Cancellation } from '../../transport/cancellation.ts';
import type { TimeLimits } from '../../transport/time-limits.ts';
import type { Transport } from '../../transport/transport.ts';

/** A token is renewed this long before it expires, in the background: the old one is still used. */
const RENEWED_BEFORE_MS = 5 * 60_000;
/** A token with less time left may expire on the way to the provider, and is not used. */
const LEAST_LEFT_MS = 10_000;
/** Short, because a call waits for the token. */
const LIMITS: TimeLimits = {
  connectMs: 5000,
  headersMs: 10_000,
  firstTokenMs: 10_000,
  silenceMs: 10_000,
  wholeMs: 15_000,
};
const LARGEST_ANSWER_BYTES = 1 << 20;

/** One token request at a time for each credential, shared by all calls that wait for it. */
export function createSigning(transport: Transport, now: () => number): Signing {
  const tokens = new Map<string, Token>();
  const underWay = new Map<string, Promise<string>>();

  async function fetchToken(exchange: TokenExchange): Promise<string> {
    const request = await exchange.request(now());
    const answer = await transport.send(request, LIMITS, performance.now() + LIMITS.wholeMs, new Cancellation());
    const body = await answer.readAll(LARGEST_ANSWER_BYTES);
    const token = exchange.read(answer.status, body, now());
    if (!token) throw refused(answer.status);
    forgetExpired();
    tokens.set(exchange.key, token);
    return token.value;
  }

  function renew(exchange: TokenExchange): Promise<string> {
    const known = underWay.get(exchange.key);
    if (known) return known;
    const renewing = fetchToken(exchange)
      .catch((thrown: unknown) => {
        throw thrown instanceof GatewayError ? thrown : refused(undefined, thrown);
      })
      .finally(() => underWay.delete(exchange.key));
    underWay.set(exchange.key, renewing);
    return renewing;
  }

  function forgetExpired(): void {
    for (const [key, { expiresAt }] of tokens) if (expiresAt <= now()) tokens.delete(key);
  }

  return {
    now,
    token(exchange) {
      const token = tokens.get(exchange.key);
      const leftMs = (token?.expiresAt ?? 0) - now();
      if (!token || leftMs < LEAST_LEFT_MS) return renew(exchange);
      // The old token is still valid: no call waits for the renewal, and its failure is not an error yet.
      if (leftMs < RENEWED_BEFORE_MS) renew(exchange).catch(() => {});
      return Promise.resolve(token.value);
    },
  };
}

/** The cause names a status or a kind of failure, never the credential. */
function refused(status: number | undefined, thrown?: unknown): GatewayError {
  const cause =
    status === undefined ? `signing failed: ${thrown instanceof Error ? thrown.name : 'unknown'}` : { status };
  return new GatewayError('upstream_failed', 'The provider did not accept the gateway. Please try again later.', {
    cause,
    credentialRefused: status !== undefined && status < 500,
  });
}
