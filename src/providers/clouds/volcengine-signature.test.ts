/** Compares signatures with the example in Volcengine's documentation ("Signature example": listing users with IAM). */
import { expect, test } from 'bun:test';
import { VOLCENGINE, verifySignature } from '../../../test/helpers/signature-v4.ts';
import type { Outgoing } from '../outgoing.ts';
import { signForVolcengine } from './volcengine-signature.ts';

const KEYS = {
  accessKeyId: 'AKLTMjI2ODVlYzI3ZGY1NGU4ZjhjYWRjMTlmNTM5OTZkYzE',
  secretAccessKey: 'TnpCak5XWXpZV1U0WkRaaE5ERmxaR0ZpTmpjeVkyUXlZek0wTWpJMU1qWQ==',
};
const AT = Date.parse('2020-12-30T08:18:05Z');

test('the published example', () => {
  const outgoing: Outgoing = {
    method: 'GET',
    url: 'https://iam.volcengineapi.com/?Version=2018-01-01&Action=ListUsers&Offset=0&Limit=10',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    body: undefined,
  };
  signForVolcengine(outgoing, KEYS, { region: 'cn-north-1', service: 'iam' }, AT);
  expect(outgoing.headers).toEqual({
    'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
    'x-date': '20201230T081805Z',
    'x-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    authorization:
      'HMAC-SHA256 Credential=AKLTMjI2ODVlYzI3ZGY1NGU4ZjhjYWRjMTlmNTM5OTZkYzE/20201230/cn-north-1/iam/request, ' +
      'SignedHeaders=content-type;host;x-content-sha256;x-date, ' +
      'Signature=28eeabbbd726b87002e0fe58ad8c1c768e619b06e2646f35b6ad7ed029a6d8a7',
  });
});

test('a body, a session and a query are signed; any change breaks the signature', () => {
  const body = JSON.stringify({ prompt: 'A cat (grey)' });
  const path = "/?Name=a%20b*c'd&Action=Act";
  const outgoing: Outgoing = {
    method: 'POST',
    url: `https://visual.volcengineapi.com:8443${path}`,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(body),
  };
  signForVolcengine(outgoing, { ...KEYS, sessionToken: 'session' }, { region: 'cn-north-1', service: 'cv' }, AT);
  const headers = { ...outgoing.headers, host: 'visual.volcengineapi.com:8443' };
  // As the service sees it, percent-encoded by RFC 3986.
  const arrived = { method: 'POST', path: '/?Name=a%20b%2Ac%27d&Action=Act', headers, body };
  const verdict = verifySignature(arrived, KEYS.secretAccessKey, VOLCENGINE);
  expect(verdict).toEqual({
    ok: true,
    scope: '20201230/cn-north-1/cv/request',
    signed: ['content-type', 'host', 'x-content-sha256', 'x-date', 'x-security-token'],
  });
  const changes: object[] = [
    { body: `${body} ` },
    { path: '/?Action=Other' },
    { method: 'GET' },
    { headers: { ...headers, host: 'elsewhere' } },
  ];
  for (const change of changes) {
    expect(verifySignature({ ...arrived, ...change }, KEYS.secretAccessKey, VOLCENGINE).ok).toBe(false);
  }
  expect(verifySignature(arrived, 'another secret', VOLCENGINE).ok).toBe(false);
});
