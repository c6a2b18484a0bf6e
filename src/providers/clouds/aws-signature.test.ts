/** Compares signatures with AWS's own test suite (aws-c-auth, tests/aws-signing-test-suite/v4). */
import { describe, expect, test } from 'bun:test';
import { verifySignature } from '../../../test/helpers/signature-v4.ts';
import type { Outgoing, Target } from '../outgoing.ts';
import { authorizeByAws, sign } from './aws-signature.ts';

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const AT = Date.parse('2015-08-30T12:36:00Z');
const SESSION = '6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267';
const UNRESERVED = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Cases that sign only host and date, and whose paths are valid URLs. */
const SUITE: readonly (readonly [name: string, method: string, path: string, signature: string])[] = [
  ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['get-relative-normalized', 'GET', '/example/..', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['get-slash-dot-slash-normalized', 'GET', '/./', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-slash-pointless-dot-normalized',
    'GET',
    '/./example',
    'ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5',
  ],
  ['get-slashes-normalized', 'GET', '//example//', '9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84'],
  ['get-unreserved', 'GET', `/${UNRESERVED}`, '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f'],
  [
    'get-vanilla-query-order-encoded',
    'GET',
    '/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1',
    '371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac',
  ],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-vanilla-query-unreserved',
    'GET',
    `/?${UNRESERVED}=${UNRESERVED}`,
    '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  ],
  ['get-vanilla-utf8-query', 'GET', '/?ሴ=bar', '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04'],
  ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  ['post-vanilla-query', 'POST', '/?Param1=value1', '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11'],
];

function outgoingTo(path: string, method = 'POST', body?: Uint8Array): Outgoing {
  return { method, url: `https://example.amazonaws.com${path}`, headers: {}, body };
}

const signatureIn = ({ headers }: Outgoing) => /Signature=(\w+)$/.exec(headers.authorization ?? '')?.[1];

describe("AWS's signing test suite", () => {
  test.each(SUITE)('%s', async (_, method, path, signature) => {
    const outgoing = outgoingTo(path, method);
    await sign(outgoing, KEYS, 'us-east-1', 'service', AT);
    expect(signatureIn(outgoing)).toBe(signature);
    expect(outgoing.headers['x-amz-date']).toBe('20150830T123600Z');
  });

  test('get-vanilla-with-session-token', async () => {
    const outgoing = outgoingTo('/', 'GET');
    await sign(outgoing, { ...KEYS, sessionToken: SESSION }, 'us-east-1', 'service', AT);
    expect(signatureIn(outgoing)).toBe('07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8');
    expect(outgoing.headers['x-amz-security-token']).toBe(SESSION);
  });

  test('post-x-www-form-urlencoded is verified by the same check as ours', () => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      host: 'example.amazonaws.com',
      'content-length': '13',
      'x-amz-date': '20150830T123600Z',
      'x-amz-content-sha256': '9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=content-length;content-type;host;x-amz-content-sha256;x-amz-date, Signature=d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b',
    };
    const arrived = { method: 'POST', path: '/', headers, body: 'Param1=value1' };
    expect(verifySignature(arrived, KEYS.secretAccessKey).ok).toBe(true);
    expect(verifySignature({ ...arrived, body: 'Param1=value2' }, KEYS.secretAccessKey).ok).toBe(false);
  });
});

describe('signing for a service', () => {
  const target = (overrides: Partial<Target>): Target => ({
    model: 'm',
    baseUrl: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
    credential: undefined,
    settings: {},
    ...overrides,
  });
  const SECRET = 'secret/with+signs0123456789';

  async function authorized(overrides: Partial<Target>) {
    const body = new TextEncoder().encode('{"a":"Grüße"}');
    const outgoing = outgoingTo('/model/a%3A0/converse', 'POST', body);
    await authorizeByAws(outgoing, target(overrides), 'bedrock', AT);
    const { pathname, host } = new URL(outgoing.url);
    const arrived = { method: 'POST', path: pathname, headers: { host, ...outgoing.headers }, body };
    return { headers: outgoing.headers, ...verifySignature(arrived, SECRET) };
  }

  test('paths with encoded names, and bodies, are signed as they are sent', async () => {
    const { ok, scope, signed } = await authorized({ credential: `AKIAIOSFODNN7EXAMPLE:${SECRET}` });
    expect(ok).toBe(true);
    expect(scope).toBe('20150830/eu-central-1/bedrock/aws4_request');
    expect(signed).toEqual(['host', 'x-amz-date']);
  });

  test('keys may be in the settings, with a session and a region of their own', async () => {
    const settings = {
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: SECRET,
      sessionToken: 's',
      region: 'us-west-2',
    };
    const { ok, scope, headers } = await authorized({ settings });
    expect(ok).toBe(true);
    expect(scope).toContain('/us-west-2/');
    expect(headers['x-amz-security-token']).toBe('s');
    expect(
      (await authorized({ credential: `AKIAIOSFODNN7EXAMPLE:${SECRET}:tok:en` })).headers['x-amz-security-token'],
    ).toBe('tok:en');
  });

  test('an API key is sent unchanged', async () => {
    const { headers } = await authorized({ credential: 'bedrock-api-key-YmVkcm9jaw==' });
    expect(headers).toEqual({ authorization: 'Bearer bedrock-api-key-YmVkcm9jaw==' });
  });

  test('without a region an attempt fails; only the operator sees why', () => {
    const credential = `AKIAIOSFODNN7EXAMPLE:${SECRET}`;
    const authorize = () =>
      authorizeByAws(outgoingTo('/'), target({ credential, baseUrl: 'http://127.0.0.1:1' }), 'bedrock', AT);
    expect(authorize).toThrow("The gateway's credential for the provider cannot be used.");
  });
});
