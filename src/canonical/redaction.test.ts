import { expect, test } from 'bun:test';
import { GatewayError } from './errors.ts';
import { lastFour, textWithoutSecrets, withoutSecrets } from './redaction.ts';

const SECRET = 'zq7Kw/2+ordinary~Looking&word';
const ATTEMPT = {
  credentials: [SECRET, 'AKIDEXAMPLE12:aws/secret+part'],
  addresses: ['https://my-resource.openai.example.test:8443/accounts/0a1b2c3d4e5f/v1', 'https://api.provider.test/v1'],
  settings: { project: 'blue-whale-77', region: 'europe-west4' },
  headers: {
    authorization: 'Bearer minted-token-0123456789',
    'x-amz-security-token': 'session+token/xyz',
    'content-type': 'application/json',
  },
};
const struck = (text: string) => textWithoutSecrets(text, ATTEMPT);
const basic = (text: string) => Buffer.from(text).toString('base64');

test.each([
  ['as it is', SECRET],
  ['in other letter case', SECRET.toUpperCase()],
  ['escaped for an address', encodeURIComponent(SECRET)],
  ['in base64', basic(SECRET)],
  ['in base64 behind a name', basic(`user:${SECRET}`)],
  ['in base64 before something', basic(`${SECRET}:and more`)],
  ['in base64 for addresses', Buffer.from(`u:${SECRET}`).toString('base64url')],
  ['in hex', Buffer.from(SECRET).toString('hex')],
  ['within a pair', 'aws/secret+part'],
  ['the id of a pair', 'AKIDEXAMPLE12'],
  ['a token made of it', 'minted-token-0123456789'],
  ['a token of a session', 'session+token/xyz'],
])('a credential %s is removed', (_how, echoed) => {
  const text = struck(`No: ${echoed} is wrong.`);
  expect(text).toContain('[key]');
  // The remaining base64 is only what surrounded it.
  for (let at = 0; at + 8 <= echoed.length; at++)
    if (!_how.includes('base64')) expect(text).not.toContain(echoed.slice(at, at + 8));
  expect(text).not.toContain(echoed);
});

test.each([
  ['masked', 'Incorrect key zq7K****************word.', 'Incorrect key [key].'],
  ['a host', 'my-resource.openai.example.test:8443 said no', '[host] said no'],
  ['a resource', 'The resource my-resource has no quota', 'The resource [account] has no quota'],
  ['an account of the path', 'account 0a1b2c3d4e5f is closed', 'account [account] is closed'],
  ['a project', 'projects are: blue-whale-77', 'projects are: [account]'],
  ['a region', 'not in europe-west4', 'not in europe-west4'],
  ['nothing', 'The messages are too long: say less.', 'The messages are too long: say less.'],
])('%s', (_what, text, left) => expect(struck(text)).toBe(left));

test('an error keeps its meaning; public fields that contain a secret are removed, and causes are redacted', () => {
  const error = new GatewayError('upstream_refused', `${SECRET} is bad`, {
    status: 422,
    param: `x.${SECRET}`,
    providerCode: SECRET,
    providerErrorType: 'invalid_request_error',
    cause: new Error('outer', { cause: { status: 422, code: SECRET } }),
  });
  const redacted = withoutSecrets(error, ATTEMPT);
  expect(redacted).toMatchObject({
    code: 'upstream_refused',
    status: 422,
    message: '[key] is bad',
    param: 'x.[key]',
    providerCode: undefined,
    providerErrorType: 'invalid_request_error',
    retryable: false,
  });
  expect(Bun.inspect(redacted.cause)).not.toContain(SECRET);
  const plain = new GatewayError('rate_limited', 'Slow down.', { retryAfterSeconds: 3 });
  expect(withoutSecrets(plain, ATTEMPT)).toBe(plain);
});

test("secrets of a Google service account are removed member by member, the issuer's URLs are not", () => {
  const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n';
  const account = {
    type: 'service_account',
    project_id: 'grey-seal-5',
    private_key: key,
    client_email: 'bot@grey-seal-5.iam.test',
    token_uri: 'https://oauth2.googleapis.com/token',
  };
  const attempt = { credentials: [JSON.stringify(account)], addresses: [], settings: {} };
  expect(textWithoutSecrets('bot@grey-seal-5.iam.test of grey-seal-5 with MIIEvQIBADANBgkq', attempt)).toBe(
    '[key] of [key] with [key]',
  );
  expect(textWithoutSecrets('service_account at https://oauth2.googleapis.com/token', attempt)).toBe(
    'service_account at https://oauth2.googleapis.com/token',
  );
});

test.each(['sk-p', 'sk-pro', 'sk-p*', 'sk-pro.'])('a text of %s takes no longer than others', (piece) => {
  const text = piece.repeat(Math.ceil(262_144 / piece.length));
  const before = process.cpuUsage();
  textWithoutSecrets(text, { credentials: ['sk-proj-0123456789abcdef'], addresses: [], settings: {} });
  const { user } = process.cpuUsage(before);
  // Quadratic would be 20 seconds.
  expect(user).toBeLessThan(5_000_000);
});

test('a secret shows its last four characters, and a short one nothing', () => {
  expect(lastFour('sk-0123456789')).toBe('…6789');
  expect(lastFour('short')).toBe('…');
});
