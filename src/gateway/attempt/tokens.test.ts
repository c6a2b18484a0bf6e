import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { jwtVerify } from 'jose';
import { googleExchange } from '../../providers/clouds/google-token.ts';
import type { TokenExchange } from '../../providers/provider.ts';
import { createTransport } from '../../transport/transport.ts';
import { createSigning } from './tokens.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

let requests: URLSearchParams[] = [];
let answer: () => Response | Promise<Response> = () => new Response();
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    requests.push(new URLSearchParams(await request.text()));
    return answer();
  },
});
afterAll(() => server.stop(true));

const account = {
  type: 'service_account',
  client_email: 'gateway@project.iam',
  private_key: PEM,
  private_key_id: 'key-1',
  token_uri: `http://127.0.0.1:${server.port}/token`,
};
const exchange: TokenExchange = googleExchange(JSON.stringify(account), account);
const MINUTE = 60_000;
let now = 0;
let issued = 0;
const issue = () => Response.json({ access_token: `token-${++issued}`, expires_in: 3600, token_type: 'Bearer' });

beforeEach(() => {
  requests = [];
  issued = 0;
  now = Date.parse('2026-11-21T12:00:00Z');
  answer = issue;
});

function signing() {
  return createSigning(createTransport(), () => now);
}

describe('tokens', () => {
  test("an account's key signs the token request as Google requires", async () => {
    expect(await signing().token(exchange)).toBe('token-1');
    expect(requests[0]?.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const { payload, protectedHeader } = await jwtVerify(requests[0]?.get('assertion') ?? '', publicKey, {
      currentDate: new Date(now),
    });
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    expect(payload).toEqual({
      iss: 'gateway@project.iam',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: account.token_uri,
      iat: now / 1000,
      exp: now / 1000 + 3600,
    });
  });

  test('concurrent calls make one request, and the token is used until shortly before it expires', async () => {
    const one = signing();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => one.token(exchange)));
    expect(new Set(tokens)).toEqual(new Set(['token-1']));
    now += 54 * MINUTE;
    expect(await one.token(exchange)).toBe('token-1');
    expect(requests).toHaveLength(1);
  });

  test('it is renewed while the old one is used, and no call waits for that', async () => {
    const one = signing();
    await one.token(exchange);
    now += 56 * MINUTE;
    let begun = () => {};
    const begins = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    answer = async () => {
      begun();
      await held;
      return issue();
    };
    expect(await one.token(exchange)).toBe('token-1');
    expect(await one.token(exchange)).toBe('token-1');
    await begins;
    release();
    while ((await one.token(exchange)) === 'token-1') await Bun.sleep(1);
    expect(await one.token(exchange)).toBe('token-2');
    expect(requests).toHaveLength(2);
  });

  test('a failed renewal is no failure while the old token is valid, and one when it has expired', async () => {
    const one = signing();
    await one.token(exchange);
    answer = () => new Response('no', { status: 500 });
    now += 58 * MINUTE;
    expect(await one.token(exchange)).toBe('token-1');
    now += 3 * MINUTE;
    await expect(one.token(exchange)).rejects.toMatchObject({ code: 'upstream_failed', retryable: true });
  });

  test.each([
    [
      'a refusal',
      () => Response.json({ error: 'invalid_grant', error_description: 'gateway@project.iam' }, { status: 400 }),
    ],
    ['no JSON', () => new Response('<html>')],
    ['no token', () => Response.json({ expires_in: 3600 })],
  ])('%s fails the attempt, without a word of the account', async (_, answers) => {
    answer = answers;
    const failure = await signing()
      .token(exchange)
      .catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: 'upstream_failed', status: 502, retryable: true });
    expect(JSON.stringify([String(failure), (failure as Error).cause])).not.toMatch(/gateway@|assertion|127\.0\.0\.1/);
    // The next call tries again.
    answer = issue;
  });

  test('a key that cannot sign fails the attempt, and is not repeated', async () => {
    const broken = { ...account, private_key: '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----' };
    const failure = await signing()
      .token(googleExchange(JSON.stringify(broken), broken))
      .catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: 'upstream_failed' });
    expect(JSON.stringify([String(failure), (failure as Error).cause])).not.toContain('c2VjcmV0');
    expect(requests).toHaveLength(0);
  });
});
