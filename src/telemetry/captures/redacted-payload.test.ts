import { expect, test } from 'bun:test';
import { fc } from '../../../test/helpers/property.ts';
import type { Json } from '../../canonical/json.ts';
import { redactedEvents, redactedJson, redactedJsonText, withoutKeys } from './redacted-payload.ts';

test('texts become their lengths, and the structure stays', () => {
  const request = {
    model: 'gpt-5',
    temperature: 0.5,
    stream: true,
    user: 'jane@example.com',
    api_key: 'abc',
    metadata: { order: 17, paid: true },
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        name: 'Jane',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
      },
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'pay', arguments: '{"iban":"DE02"}' } }],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', input: { 'Jane Doe': 4711 } }] },
    ],
    input: [1, 2, 3],
  };
  expect(redactedJson(request as unknown as Json)).toEqual({
    model: 'gpt-5',
    temperature: 0.5,
    stream: true,
    user: '[text 16]',
    api_key: '[removed]',
    metadata: { order: '[number]', paid: '[boolean]' },
    messages: [
      { role: 'system', content: '[text 9]' },
      { role: 'user', name: '[text 4]', content: [{ type: 'image_url', image_url: { url: '[text 26]' } }] },
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: '[text 3]', arguments: '[text 15]' } }],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', input: { '[name 8]': '[number]' } }] },
    ],
    input: '[3 numbers]',
  });
});

test('no text of a caller or a model is left, wherever it is', () => {
  const secret = 'the patient said';
  const member = fc.constantFrom('role', 'type', 'model', 'content', 'id', 'x', 'arguments', secret);
  const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.constant(secret),
      fc.integer(),
      fc.boolean(),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(member, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (json) => {
      expect(JSON.stringify(redactedJson(json))).not.toContain(secret);
      expect(JSON.stringify(redactedEvents(`data: ${JSON.stringify(json)}\n\n`))).not.toContain(secret);
    }),
  );
});

test('the events of a stream', () => {
  const stream = 'event: x\ndata: {"choices":[{"delta":{"content":"Hello"}}]}\n\n: {"cost":"1"}\n\ndata: [DONE]\n\n';
  expect(redactedEvents(stream)).toEqual([{ choices: [{ delta: { content: '[text 5]' } }] }, '[DONE]']);
  expect(redactedEvents('data: half a li')).toEqual(['[text 9]']);
  expect(redactedEvents('a text')).toBeUndefined();
  expect(redactedJsonText('a text')).toBeUndefined();
});

test('keys are removed from whole texts', () => {
  const text = JSON.stringify({
    tools: [
      {
        type: 'mcp',
        authorization: 'mcp-"secret',
        headers: { 'X-Api-Key': 'abcdef', Authorization: 'Bearer abc.def-ghi' },
      },
    ],
    webhook: { token: 'tok1', note: 'sk-abcdefghijklmnop and rk_live_abcdefghijkl' },
    max_tokens: 5,
    content: 'a token is a word, and the secret of it',
  });
  const left = withoutKeys(text);
  for (const secret of ['mcp-', 'abcdef', 'abc.def', 'tok1', 'sk-abc', 'rk_live']) expect(left).not.toContain(secret);
  expect(JSON.parse(left)).toMatchObject({ max_tokens: 5, content: 'a token is a word, and the secret of it' });
});

test('keys are removed from JSON inside a text, from URLs, of other providers, and at the end of a part', () => {
  const inside = JSON.stringify({ access_token: 'tok1"x', refreshToken: 'tok2', private_key: 'tok3', city: 'Rome' });
  const text = JSON.stringify({
    arguments: inside,
    deeper: JSON.stringify({ arguments: inside }),
    url: 'postgres://user:tok4@db.test/x and https://user@host.test:443/a@b',
    pem: `-----BEGIN RSA PRIVATE KEY-----\nMIItok5\n-----END RSA PRIVATE KEY-----`,
    notes: [
      'gsk_tok6abcdefghijkl',
      'xai-tok7abcdefghijkl',
      'hf_tok8abcdefghijkl',
      'AKIATOKNINEABCDEFGHI',
      'github_pat_tok10abcdefgh',
    ],
  });
  const left = withoutKeys(text);
  expect(left).not.toMatch(/tok\d|TOKNINE/);
  expect(left).toContain('Rome');
  expect(left).toContain('https://user@host.test:443/a@b');
  expect(JSON.parse(left)).toMatchObject({ arguments: expect.any(String), pem: '[key]' });
  const cut = text.slice(0, text.indexOf('tok1') + 4);
  expect(withoutKeys(cut)).not.toContain('tok1');
  expect(withoutKeys('{"api_key": "tok-without-an-end')).not.toContain('tok');
  expect(withoutKeys('-----BEGIN PRIVATE KEY-----\nMIItok')).not.toContain('tok');
});

test.each([
  ['backslashes', '\\'],
  ['quotes', '"'],
  ['letters and dots', 'a.'],
  ['unfinished members', '"token":"'],
  ['unfinished URLs', 'a://b:'],
  ['dashes', '-----BEGIN PRIVATE KEY-----'],
  ['names', '"a_token'],
])('a text of %s takes no longer than others', (_, piece) => {
  const text = piece.repeat(Math.ceil(262_144 / piece.length));
  const before = process.cpuUsage();
  withoutKeys(text);
  const { user } = process.cpuUsage(before);
  // Quadratic would be minutes.
  expect(user).toBeLessThan(5_000_000);
});

test('numbers of streamed arguments and of structured results are content', () => {
  const parts = { partialArgs: [{ jsonPath: '$.age', numberValue: 43 }], structuredContent: { age: 44 } };
  expect(JSON.stringify(redactedJson(parts as unknown as Json))).not.toMatch(/4[34]/);
});
