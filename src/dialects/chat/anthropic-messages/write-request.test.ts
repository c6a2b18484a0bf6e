import { describe, expect, test } from 'bun:test';
import { call, NEW, OLD, result, user, write } from '../../../../test/helpers/anthropic-call.ts';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import type { Message } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { writeCall } from './write-request.ts';

describe('a conversation', () => {
  test('has its system prompt at the top, joined roles, and no empty text', () => {
    const { body, warnings } = write({
      messages: [
        { role: 'system', parts: [{ type: 'text', text: 'Be kind.', cache: {} }] },
        { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }], originRole: 'developer' },
        user('One.'),
        user(' '),
        user('Two.'),
        { role: 'assistant', parts: [{ type: 'text', text: '' }] },
        user('Three.'),
        { role: 'assistant', parts: [{ type: 'text', text: 'Then \n' }] },
      ],
    });
    expect(body.system).toEqual([
      { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Be brief.' },
    ]);
    expect(body.messages).toEqual([
      { role: 'user', content: ['One.', 'Two.', 'Three.'].map((text) => ({ type: 'text', text })) },
      { role: 'assistant', content: [{ type: 'text', text: 'Then' }] },
    ]);
    expect(warnings).toBe('');
    expect(body.max_tokens).toBe(8192);
  });

  test('has all tool results first in the turn after the calls, with legal ids', () => {
    const { body } = write({
      messages: [
        user('Go.'),
        { role: 'assistant', parts: [call('functions.Bash:0'), call('b'), { type: 'text', text: 'Doing.' }] },
        user('Wait!'),
        { role: 'tool', parts: [result('b', 'two')] },
        { role: 'tool', parts: [{ ...result('functions.Bash:0', 'one'), failed: true }] },
      ],
    });
    const [, assistant, answer] = body.messages as { content: JsonObject[] }[];
    const id = assistant?.content[0]?.id;
    expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(answer?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'b', content: 'two' },
      { type: 'tool_result', tool_use_id: id ?? '', content: 'one', is_error: true },
      { type: 'text', text: 'Wait!' },
    ]);
    expect((body.messages as JsonObject[]).length).toBe(3);
  });

  test('has arguments as objects, whatever the model wrote', () => {
    const inputs = ['', '{"a":{"b":[1]}}', '[1]', '{"broken'];
    const { body, warnings } = write({
      messages: [user('Go.'), { role: 'assistant', parts: inputs.map((input, at) => call(`c${at}`, 'look', input)) }],
    });
    const [, turn] = body.messages as { content: JsonObject[] }[];
    expect(turn?.content.map((block) => block.input)).toEqual([
      {},
      { a: { b: [1] } },
      { input: [1] },
      { input: '{"broken' },
    ]);
    expect(warnings).toContain('not a JSON object');
  });

  test('has later instructions as a system turn, or as user text if the model has no system turns', () => {
    const messages: Message[] = [
      user('One.'),
      { role: 'assistant', parts: [{ type: 'text', text: 'Yes.' }] },
      { role: 'system', parts: [{ type: 'text', text: 'Now in French.' }] },
      user('Two.'),
    ];
    expect((write({ messages }, NEW).body.messages as JsonObject[]).map((turn) => turn.role)).toEqual([
      'user',
      'assistant',
      'system',
      'user',
    ]);
    const old = write({ messages }, OLD);
    expect(JSON.stringify(old.body.messages)).toContain('<system>\\nNow in French.\\n</system>');
    expect(old.warnings).toContain('as user text');
  });

  test('has a turn even if there are only instructions', () => {
    const { body } = write({ messages: [{ role: 'system', parts: [{ type: 'text', text: 'Speak.' }] }] });
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: '.' }] }]);
  });

  test('has thinking only with its own signature', () => {
    const own = { dialect: 'anthropic-messages', value: 'sig' };
    const { body, warnings } = write({
      messages: [
        user('Go.'),
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'Mine.', signature: own },
            { type: 'reasoning', text: '', signature: { ...own, value: 'hidden:data' } },
            { type: 'reasoning', text: 'Theirs.', signature: { dialect: 'gemini', value: 'x' } },
            { type: 'reasoning', text: 'Unsigned.' },
            { type: 'text', text: 'So.' },
          ],
        },
        user('On.'),
      ],
    });
    const [, turn] = body.messages as { content: JsonObject[] }[];
    expect(turn?.content).toEqual([
      { type: 'thinking', thinking: 'Mine.', signature: 'sig' },
      { type: 'redacted_thinking', data: 'data' },
      { type: 'text', text: 'So.' },
    ]);
    expect(warnings).toContain('Earlier thinking was dropped');
  });

  test('has at most four cache marks, the last ones, and does not change the call', () => {
    const marked = (text: string) => ({ type: 'text' as const, text, cache: {} });
    const item = { type: 'container_upload', file_id: 'f', cache_control: { type: 'ephemeral' } };
    const messages: Message[] = [
      { role: 'system', parts: [marked('a'), marked('b')] },
      { role: 'user', parts: [{ type: 'native', dialect: 'anthropic-messages', item }, marked('c'), marked('d')] },
    ];
    const tools = [{ type: 'function' as const, name: 'f', cache: { ttl: '1h' as const } }];
    const { body, warnings } = write({ messages, tools });
    expect(JSON.stringify(body).match(/cache_control/g)?.length).toBe(4);
    expect(JSON.stringify(body.tools)).not.toContain('cache_control');
    expect(warnings).toContain('cache marks');
    write({ messages: [...messages, ...messages] });
    expect(item.cache_control).toEqual({ type: 'ephemeral' });
  });

  test('has images and documents with their real type', () => {
    const png = 'iVBORw0KGgo=';
    const { body } = write({
      messages: [
        {
          role: 'user',
          parts: [
            {
              type: 'media',
              media: { kind: 'image', mimeType: 'image/jpeg', source: { type: 'inline', base64: png } },
            },
            { type: 'media', media: { kind: 'image', source: { type: 'url', url: 'https://a.example/b' } } },
            {
              type: 'media',
              media: {
                kind: 'document',
                name: 'n.pdf',
                mimeType: 'application/pdf',
                source: { type: 'inline', base64: 'JVBERi0=' },
              },
            },
            {
              type: 'media',
              media: { kind: 'document', mimeType: 'text/csv', source: { type: 'inline', base64: btoa('a,b') } },
            },
          ],
        },
      ],
    });
    expect((body.messages as { content: JsonObject[] }[])[0]?.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
      { type: 'image', source: { type: 'url', url: 'https://a.example/b' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }, title: 'n.pdf' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
    ]);
  });

  test.each([
    ['audio', { kind: 'audio' as const, source: { type: 'inline' as const, base64: 'AA==' } }, 'invalid_request'],
    [
      'a file of another provider',
      { kind: 'image' as const, source: { type: 'reference' as const, dialect: 'openai-chat', id: 'f' } },
      'file_reference_unsupported',
    ],
    [
      'a spreadsheet',
      {
        kind: 'document' as const,
        mimeType: 'application/vnd.ms-excel',
        source: { type: 'inline' as const, base64: 'AA==' },
      },
      'invalid_request',
    ],
  ])('cannot contain %s', (_, media, code) => {
    let thrown: unknown;
    try {
      write({ messages: [{ role: 'user', parts: [{ type: 'media', media }] }] });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(GatewayError);
    expect((thrown as GatewayError).code).toBe(code as 'invalid_request');
  });
});

describe('settings', () => {
  test('are limited, or dropped if the model rejects them', () => {
    expect(write({ sampling: { temperature: 1.7, topP: 0.5, topK: 4 } }, OLD).body).toMatchObject({
      temperature: 1,
      top_p: 0.5,
      top_k: 4,
    });
    const middle = write({ sampling: { temperature: 0.2, topP: 0.5 } });
    expect(middle.body.top_p).toBeUndefined();
    expect(middle.warnings).toContain('`top_p`');
    const fresh = write({ sampling: { temperature: 0.2, topP: 0.5, topK: 4 } }, NEW);
    for (const member of ['temperature', 'top_p', 'top_k']) {
      expect(fresh.body[member]).toBeUndefined();
      expect(fresh.warnings).toContain(`\`${member}\``);
    }
    expect(write({ sampling: { temperature: 1 } }, NEW).warnings).toBe('');
    const thinks = write({ sampling: { temperature: 0.2, topK: 3 }, reasoning: { effort: 'low' } }, OLD);
    expect([thinks.body.temperature, thinks.body.top_k]).toEqual([undefined, undefined]);
    expect(thinks.warnings).toContain('while it thinks');
  });

  test('without a counterpart are reported, harmless ones are not', () => {
    const { warnings } = write({
      sampling: { presencePenalty: 0, frequencyPenalty: 1, seed: 1, logprobs: true, logitBias: { 1: 2 }, stop: [' '] },
      verbosity: 'low',
      metadata: { a: 'b' },
      serviceTier: 'flex',
      modalities: ['text', 'audio'],
      extras: { 'openai-chat': { prediction: {}, store: true } },
      cacheKey: 'k',
    });
    for (const word of [
      'frequency_penalty',
      'seed',
      'logprobs',
      'logit_bias',
      'verbosity',
      'metadata',
      'service_tier',
      'modalities',
      'prediction',
      'store',
      'stop sequence',
    ]) {
      expect(warnings).toContain(word);
    }
    expect(warnings).not.toContain('presence_penalty');
  });

  test('that both formats have arrive', () => {
    const { body, warnings } = write({
      user: 'u',
      serviceTier: 'default',
      stream: true,
      maxOutputTokens: 7,
      sampling: { stop: ['a', 'b'] },
    });
    expect(body).toMatchObject({
      metadata: { user_id: 'u' },
      service_tier: 'standard_only',
      stream: true,
      max_tokens: 7,
      stop_sequences: ['a', 'b'],
    });
    expect(warnings).toBe('');
  });

  test("of a provider's quirks apply", () => {
    const { body, warnings } = writeCall(chatCall({ sampling: { topK: 3 } }), OLD, { rejects: ['top_k'] });
    expect(new TextDecoder().decode(body)).not.toContain('top_k');
    expect(warnings.join()).toContain('`top_k`');
  });
});

test('a text completion is a user turn', () => {
  const completion = { prompts: ['Once'], echo: false, bestOf: 3 };
  const { body, warnings } = write({ completion, messages: [] });
  expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Once' }] }]);
  expect(warnings).toContain('best_of');
});

test('functions of deprecated chat requests are sent as tools, without a warning', () => {
  const functions = [{ name: 'weather', parameters: { type: 'object' } }];
  const call = chatCall({
    tools: [{ type: 'function', name: 'weather', parameters: { type: 'object' } }],
    extras: { 'openai-chat': { functions, function_call: 'auto' } },
  });
  const { body, warnings } = writeCall(call, 'claude-sonnet-4-5', {});
  expect(JSON.parse(Buffer.from(body).toString()).tools).toMatchObject([{ name: 'weather' }]);
  expect(warnings).toEqual([]);
});
