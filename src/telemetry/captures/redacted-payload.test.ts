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
