/** The console: signing in by OpenID Connect. */
import { Type } from 'typebox';
import { auditRow } from '../../../access/audit.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { Oidc, OidcError, OidcOutcome } from '../../../people/oidc.ts';
import type { SignInAttempt } from '../../../people/oidc-provider.ts';
import type { Throttle } from '../../../people/throttle.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { cookieIn, refuseOtherOrigin } from '../../session-cookie.ts';
import { isOnTls } from '../../signed-in.ts';
import { beginSession, peopleOf } from './session-routes.ts';

type OidcRequest = Pick<RouteRequest, 'headers' | 'address' | 'url'>;

export const OIDC_ROUTES: readonly AnsweredRoute[] = [
  route('GET', '/console/api/sign-in/oidc', {
    gate: 'open',
    summary: 'Sends the browser to the OIDC provider.',
    query: Type.Object({
      to: Type.Optional(Type.String({ description: 'the page of the console to show afterwards' })),
    }),
    answer: async (deps, request) => {
      const oidc = oidcOf(deps);
      // No page of another origin may replace the session of its visitor.
      if (isForeign(deps, request)) return goTo('/console/');
      const started = await oidc.start();
      if ('error' in started) return refused(deps, started);
      return goTo(started.url, attemptCookie(deps, started.attempt, request.query.to));
    },
  }),
  route('GET', '/console/api/sign-in/oidc/callback', {
    gate: 'open',
    summary: 'Where the OIDC provider sends the browser back to: signs in, or shows the sign-in page with an error.',
    answer: async (deps, request) => {
      const oidc = oidcOf(deps);
      const attempt = attemptOf(deps, request);
      const query = new URL(request.url).searchParams;
      // Compared before anything is sent: without the cookie of this browser no request to the provider is made.
      if (!attempt || query.getAll('state').join() !== attempt.state) return goTo('/console/#error=sign_in_failed');
      const { throttle } = peopleOf(deps);
      const name = `oidc ${attempt.state}`;
      // Each makes the gateway ask the provider.
      if (!(await isFree(throttle, name, request.address))) return goTo('/console/#error=rate_limited');
      const done = await oidc.finish(query, attempt);
      if ('error' in done) return failed(deps, request, done);
      await throttle.succeeded(name, request.address);
      // The attempt is over: its cookie has no further use.
      const session = await beginSession(deps, request, done.person, 'oidc');
      return goTo(attempt.to ?? '/console/', session, attemptCookie(deps, undefined));
    },
  }),
];

function oidcOf(deps: HttpDeps): Oidc {
  const { oidc } = peopleOf(deps);
  if (oidc) return oidc;
  throw new GatewayError('not_found', 'There is no OIDC provider (MODELPORT_OIDC_ISSUER).');
}

function isForeign({ settings }: HttpDeps, { headers }: OidcRequest): boolean {
  try {
    refuseOtherOrigin({ method: 'GET', headers }, settings.publicUrl);
    return false;
  } catch {
    return true;
  }
}

const isFree = (throttle: Throttle, name: string, address: string): Promise<boolean> =>
  throttle.attempt(name, address).then(
    () => true,
    (thrown) => {
      if (thrown instanceof GatewayError && thrown.code === 'rate_limited') return false;
      throw thrown;
    },
  );

/** Written if the provider has identified the person, or the throttle permits: others could fill the audit log. */
async function failed(deps: HttpDeps, { address }: OidcRequest, done: Failed): Promise<Response> {
  const isCounted = await isFree(peopleOf(deps).throttle, `oidc ${address}`, address);
  if (isCounted || done.about !== undefined) {
    const act = { actor: 'sign-in', action: 'person.sign-in-failed', subject: done.about ?? 'unknown' };
    await deps.store.recordAudit(auditRow({ ...act, after: { way: 'oidc', reason: done.error, address } }, deps.now()));
  }
  return refused(deps, done);
}

type Failed = Extract<OidcOutcome, { error: OidcError }>;

function refused(deps: HttpDeps, { error, cause }: Failed): Response {
  // Not for each of those who come while the provider is down.
  if (error === 'provider_unavailable' && cause instanceof Error && cause.cause !== undefined)
    deps.reportError('Signing in by OIDC failed.', cause);
  return goTo(`/console/#error=${error}`, attemptCookie(deps, undefined));
}

function goTo(location: string, ...cookies: string[]): Response {
  const headers = new Headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 303, headers });
}

/** What the provider's answer must match, in the browser that started the sign-in: another one cannot finish it. */
const cookieName = (deps: HttpDeps) => (isOnTls(deps) ? '__Host-modelport-oidc' : 'modelport_oidc');
const ATTEMPT_SECONDS = 600;
const ATTEMPT = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})(?:\.([\w-]+))?$/;

/** Pages of the console alone, and without the part behind `#`, which may be a link that signs somebody in. */
const PAGE = /^\/console\/(?!api\/)[!"$-~]{0,1000}$/;

/** Without an attempt the cookie ends. `Lax`, because the provider's page leads back here. `to`: the requested page. */
function attemptCookie(deps: HttpDeps, attempt: SignInAttempt | undefined, to?: string): string {
  const page = to !== undefined && PAGE.test(to) ? `.${Buffer.from(to).toString('base64url')}` : '';
  const value = attempt ? `${attempt.state}.${attempt.nonce}.${attempt.verifier}${page}` : '';
  const parts = [`${cookieName(deps)}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax'];
  return [...parts, ...(isOnTls(deps) ? ['Secure'] : []), `Max-Age=${attempt ? ATTEMPT_SECONDS : 0}`].join('; ');
}

function attemptOf(deps: HttpDeps, { headers }: OidcRequest): (SignInAttempt & { to?: string }) | undefined {
  const written = cookieIn(headers.get('cookie') ?? '', cookieName(deps)) ?? '';
  const [, state, nonce, verifier, page = ''] = ATTEMPT.exec(written) ?? [];
  if (!state || !nonce || !verifier) return undefined;
  const to = Buffer.from(page, 'base64url').toString();
  // The cookie comes from a browser: it is checked again.
  return { state, nonce, verifier, ...(PAGE.test(to) && { to }) };
}
