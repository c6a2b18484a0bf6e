/** Requests to a provider of the client's own format: only costs, routing and the documented ranges are checked. */
import { describe, expect, test } from 'bun:test';
import type { Call } from '../../src/canonical/call.ts';
import { GatewayError } from '../../src/canonical/errors.ts';
import type { JsonObject } from '../../src/canonical/json.ts';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { dialectNamed, providerDialectNamed } from '../../src/dialects/index.ts';
import { quirksOf } from '../../src/dialects/shared/quirks.ts';
import { quote } from '../../src/ledger/pricing/quote.ts';
import { providerOf } from '../../src/providers/index.ts';

const read = (format: string, body: JsonObject, model = 'm') =>
  (dialectNamed(format) as Dialect<Call>).readCall({
    body: Buffer.from(JSON.stringify(body)),
    headers: new Headers({ 'anthropic-version': '2023-06-01' }),
    path: { model, action: 'generateContent' },
    query: new URLSearchParams(),
  });
const sent = ({ body }: { body: Uint8Array }) => JSON.parse(Buffer.from(body).toString());
const hello = [{ role: 'user', content: 'Hi' }];

describe('a value that only one provider knows', () => {
  test.each<[string, JsonObject]>([
    ['openai-chat', { model: 'm', messages: hello, reasoning_effort: 'default' }],
    ['openai-chat', { model: 'm', messages: hello, verbosity: 'chatty' }],
    ['openai-responses', { model: 'm', input: 'Hi', reasoning: { effort: 'default', summary: 'long' } }],
  ])('%s %j is passed on', (format, body) => {
    const { body: own, warnings } = (dialectNamed(format) as Dialect<Call>).passCall(read(format, body), 'm', {});
    expect([sent({ body: own }), warnings]).toEqual([body, []]);
  });

  test.each<[string, JsonObject, string]>([
    ['openai-chat', { model: 'm', messages: hello, reasoning_effort: 'default' }, 'reasoning_effort'],
    ['openai-responses', { model: 'm', input: 'Hi', reasoning: { effort: 'default' } }, 'reasoning'],
  ])('%s %j causes a warning if the provider has another format', (format, body, member) => {
    const { warnings } = providerDialectNamed('anthropic-messages')!.writeCall(read(format, body), 'claude-opus-5', {});
    expect(warnings.join()).toContain(member);
  });
});

describe('embeddings of inputs other than text', () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
  const parts = [{ text: 'A cat' }, image];

  test("reach Google's own format unchanged, and are held for", () => {
    const request = { model: 'models/m', content: { parts } };
    const call = read('gemini-batch-embed', { requests: [request] });
    const { passCall, writeCall } = dialectNamed('gemini-batch-embed') as Dialect<Call>;
    expect(sent(passCall(call, 'm', {}))).toEqual({ requests: [request] });
    const single = read('gemini-embed', { content: { parts } });
    expect(sent(writeCall(single, 'm', {}))).toEqual({ requests: [request] });
    const text = read('gemini-embed', { content: { parts: [{ text: 'A cat' }] } });
    expect(quote(single, { input: 1000n }, 0)).toBeGreaterThan(quote(text, { input: 1000n }, 0) + 1000n);
  });

  test('are refused by name if the provider only embeds text', () => {
    const call = read('gemini-embed', { content: { parts } });
    for (const format of ['openai-embeddings', 'cohere-embed', 'vertex-embeddings']) {
      let thrown: unknown;
      try {
        providerDialectNamed(format)!.writeCall(call, 'm', {});
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(GatewayError);
      expect(thrown).toMatchObject({ code: 'invalid_request', param: 'content.parts' });
    }
  });
});

describe('cache markers for a model that supports them', () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const block = (text: string) => ({ type: 'text', text, ...mark });
  const chat = providerDialectNamed('openai-chat')!;
  const written = (body: JsonObject, model: string) => {
    const call = read('anthropic-messages', { model: 'm', max_tokens: 50, ...body });
    const { body: bytes, warnings } = chat.writeCall(call, model, quirksOf(providerOf('openai')!.quirks!, model));
    return { messages: sent({ body: bytes }).messages, warnings };
  };
  const BREAKPOINT = { prompt_cache_breakpoint: { mode: 'explicit' } };

  test('keep their positions', () => {
    const body = { system: [block('Be brief.')], messages: [{ role: 'user', content: [block('Hi')] }] };
    const result = written(body, 'gpt-6-sol');
    expect(result.messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'Be brief.', ...BREAKPOINT }] },
      { role: 'user', content: [{ type: 'text', text: 'Hi', ...BREAKPOINT }] },
    ]);
    expect(result.warnings).toEqual([]);
    expect(JSON.stringify(written(body, 'gpt-4o'))).not.toContain('breakpoint');
    expect(written(body, 'gpt-4o').warnings).toHaveLength(1);
  });

  test('above the limit of four only the last four stay, and a dropped marker on a tool is reported', () => {
    const content = ['a', 'b', 'c', 'd', 'e'].map(block);
    const { messages, warnings } = written({ messages: [{ role: 'user', content }] }, 'gpt-5.6');
    expect(messages[0].content.map((part: object) => 'prompt_cache_breakpoint' in part)).toEqual([
      false,
      true,
      true,
      true,
      true,
    ]);
    expect(warnings).toHaveLength(1);
    const tools = [{ name: 'f', input_schema: { type: 'object' }, ...mark }];
    expect(written({ messages: hello, tools }, 'gpt-6-sol').warnings.join()).toContain('Cache marks');
  });
});

test('functions of the old format are translated without a warning', () => {
  const functions = [{ name: 'f', parameters: { type: 'object' } }];
  const call = read('openai-chat', { model: 'm', messages: hello, functions, function_call: 'auto' });
  const { body, warnings } = providerDialectNamed('anthropic-messages')!.writeCall(call, 'claude-opus-5', {});
  expect(sent({ body }).tools).toMatchObject([{ name: 'f' }]);
  expect(warnings).toEqual([]);
});
