/**
 * Requests: what is refused and by which name, how a call is written for a provider, how a client's own body is
 * changed.
 */

import { describe, expect, test } from 'bun:test';
import { refusal } from '../../../../test/helpers/gateway-error.ts';
import { WRONG_SAMPLING } from '../../../../test/helpers/wrong-sampling.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import type { Quirks } from '../../shared/quirks.ts';
import { openaiChat } from './openai-chat.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const hello = [{ role: 'user', content: 'Hello' }];

function readText(body: string): ChatCall {
  return openaiChat.readCall({
    body: encoder.encode(body),
    headers: new Headers(),
    path: {},
    query: new URLSearchParams(),
  });
}
const read = (members: object) => readText(JSON.stringify({ model: 'm', messages: hello, ...members }));

function write(members: object, quirks: Quirks = {}, changes: Partial<ChatCall> = {}) {
  const { body, warnings } = openaiChat.writeCall({ ...read(members), ...changes }, 'up', quirks);
  return { body: JSON.parse(decoder.decode(body)), warnings };
}

function pass(members: object, quirks: Quirks = {}) {
  const { body, warnings } = openaiChat.passCall(read(members), 'up', quirks);
  return { warnings, body: JSON.parse(decoder.decode(body)) };
}

describe('readCall refuses', () => {
  test.each<[string, object]>([
    ['model', { model: undefined }],
    ['model', { model: '' }],
    ['messages', { messages: undefined }],
    ['messages', { messages: [] }],
    ['messages', { messages: 'hi' }],
    ['messages[0]', { messages: ['hi'] }],
    ['messages[0].role', { messages: [{ content: 'x' }] }],
    ['messages[0].role', { messages: [{ role: 'robot', content: 'x' }] }],
    ['messages[1].content', { messages: [...hello, { role: 'user', content: 7 }] }],
    [
      'messages[0].content[1].text',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'text' }] }] },
    ],
    ['messages[0].content[0].image_url', { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }],
    ['messages[0].tool_calls[0].function', { messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }] }],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
    ...WRONG_SAMPLING,
    ['max_tokens', { max_tokens: 0 }],
    ['max_completion_tokens', { max_completion_tokens: '10' }],
    ['stop', { stop: [1] }],
    ['stream', { stream: 'yes' }],
    ['stream_options.include_usage', { stream_options: { include_usage: 1 } }],
    ['seed', { seed: 'x' }],
    ['reasoning_effort', { reasoning_effort: 7 }],
    ['logit_bias', { logit_bias: [] }],
    ['top_logprobs', { top_logprobs: 21 }],
    ['tools', { tools: {} }],
    ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
    ['tool_choice', { tool_choice: 5 }],
    ['response_format.json_schema', { response_format: { type: 'json_schema' } }],
    ['modalities', { modalities: 'text' }],
    ['user', { user: 1 }],
    ['contents', { contents: 'x' }],
  ])('%s of %j', (param, members) => {
    const error = refusal(() => read(members));
    expect(error.code).toBe('invalid_request');
    expect([error.param, error.param?.startsWith(param)]).toEqual([error.param, true]);
    expect(error.message).toContain('`');
  });

  test.each(['', '{', '[]', 'null', '"x"', '\u0000'])('a body that is not an object: %j', (body) => {
    expect(refusal(() => readText(body)).code).toBe('invalid_request');
  });

  test('bytes that are not UTF-8', () => {
    const body = Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d);
    const request = { body, headers: new Headers(), path: {}, query: new URLSearchParams() };
    expect(refusal(() => openaiChat.readCall(request)).message).toContain('UTF-8');
  });
});

describe('readCall reads', () => {
  test('null as absent, unknown members as extras', () => {
    const call = read({
      temperature: null,
      tools: null,
      stop: null,
      response_format: null,
      contents: [],
      extra_body: { google: {} },
      min_p: 0.1,
    });
    expect(call.sampling).toEqual({});
    expect(call.extras).toEqual({ 'openai-chat': { min_p: 0.1 } });
  });

  test('the parts of a message', () => {
    const content = [
      { type: 'text', text: 'see', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'novelty', x: 1 },
    ];
    const [message] = read({ messages: [{ role: 'user', content }] }).messages;
    expect(message?.parts).toEqual([
      { type: 'text', text: 'see', cache: { ttl: '1h' } },
      {
        type: 'media',
        media: { kind: 'image', source: { type: 'inline', base64: 'AAAA' }, mimeType: 'image/png', detail: 'low' },
      },
      { type: 'media', media: { kind: 'image', source: { type: 'url', url: 'https://a.example/b.png' } } },
      { type: 'media', media: { kind: 'audio', source: { type: 'inline', base64: 'AAAA' }, mimeType: 'audio/mpeg' } },
      {
        type: 'media',
        media: {
          kind: 'document',
          source: { type: 'inline', base64: 'AAAA' },
          mimeType: 'application/pdf',
          name: 'a.pdf',
        },
      },
      {
        type: 'media',
        media: { kind: 'document', source: { type: 'reference', dialect: 'openai-chat', id: 'file-1' } },
      },
      { type: 'native', dialect: 'openai-chat', item: { type: 'novelty', x: 1 } },
    ]);
  });

  test('reasoning and signatures in all members that carry them', () => {
    const thoughts = (message: object) =>
      read({ messages: [{ role: 'assistant', content: 'a', ...message }] }).messages[0]?.parts[0];
    expect(thoughts({ reasoning_content: 'hm' })).toEqual({ type: 'reasoning', text: 'hm' });
    expect(thoughts({ reasoning: 'hm' })).toEqual({ type: 'reasoning', text: 'hm' });
    const details = [{ type: 'reasoning.text', text: 'hm', signature: 's' }];
    expect(thoughts({ reasoning: 'hm', reasoning_details: details })).toEqual({
      type: 'reasoning',
      text: 'hm',
      signature: { dialect: 'openai-chat', value: JSON.stringify({ reasoning_details: details }) },
    });
    expect(thoughts({ thinking_blocks: [{ type: 'thinking', thinking: 'hm', signature: 's' }] })).toMatchObject({
      text: 'hm',
    });
  });

  test('deprecated functions', () => {
    const members = {
      functions: [{ name: 'f', parameters: { type: 'object' } }],
      function_call: { name: 'f' },
      messages: [
        ...hello,
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: '1' },
      ],
    };
    const call = read(members);
    expect(call.tools).toEqual([{ type: 'function', name: 'f', parameters: { type: 'object' } }]);
    expect(call.toolChoice).toEqual({ type: 'tool', name: 'f' });
    expect(call.messages[2]?.parts[0]).toMatchObject({ type: 'tool-result', callId: 'call_1', name: 'f' });
    expect(write(members).body).toEqual({ model: 'up', ...members });
  });

  test('both token limits: the smaller one counts', () => {
    expect(read({ max_tokens: 1, max_completion_tokens: 2 }).maxOutputTokens).toBe(1);
    expect(read({ max_tokens: 2, max_completion_tokens: 1 }).maxOutputTokens).toBe(1);
    expect(read({ max_tokens: 1 }).maxOutputTokens).toBe(1);
  });
});

describe('writeCall', () => {
  test('puts images of tool results after all results', () => {
    const image = {
      type: 'media' as const,
      media: { kind: 'image' as const, source: { type: 'inline' as const, base64: 'AAAA' }, mimeType: 'image/png' },
    };
    const messages: ChatCall['messages'] = [
      {
        role: 'assistant',
        parts: [
          { type: 'tool-call', id: 'a', name: 'f', input: '' },
          { type: 'tool-call', id: 'b', name: 'f', input: '{}' },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool-result', callId: 'a', parts: [image], failed: false }] },
      {
        role: 'tool',
        parts: [{ type: 'tool-result', callId: 'b', parts: [{ type: 'text', text: 'no such file' }], failed: true }],
      },
    ];
    const { body, warnings } = write({}, {}, { messages, origin: { dialect: 'elsewhere', body: new Uint8Array() } });
    expect(body.messages.map((message: { role: string }) => message.role)).toEqual([
      'assistant',
      'tool',
      'tool',
      'user',
    ]);
    expect(body.messages[0].tool_calls[0].function.arguments).toBe('{}');
    expect(body.messages[2].content).toBe('Error: no such file');
    expect(body.messages[3].content[1]).toEqual({
      type: 'image_url',
      image_url: { url: 'data:image/png;base64,AAAA' },
    });
    expect(warnings.length).toBe(1);
  });

  test('requests usage, renames, drops and reports it', () => {
    const { body, warnings } = write(
      { stream: true, max_tokens: 5, user: 'u' },
      { renames: { max_tokens: 'max_completion_tokens' }, rejects: ['user'] },
    );
    expect(body).toEqual({
      model: 'up',
      messages: hello,
      max_completion_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(warnings).toEqual(['`user` was dropped: the provider does not take it.']);
  });

  test('writes a completion as a turn', () => {
    const completion = { prompts: ['Once'], echo: false };
    expect(write({}, {}, { completion, messages: [] }).body.messages).toEqual([{ role: 'user', content: 'Once' }]);
  });

  test('puts a schema that the provider cannot enforce into the prompt', () => {
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } };
    const { body, warnings } = write({ response_format }, { supportsStructuredOutput: 'json' });
    expect(body.response_format).toEqual({ type: 'json_object' });
    expect(body.messages.at(-1).content).toContain('{"type":"object"}');
    expect(warnings.length).toBe(1);
    expect(pass({ response_format }, { supportsStructuredOutput: 'json' }).body).toEqual(body);
  });
});

describe('passCall changes', () => {
  test('only the model, and usage if it must be requested', () => {
    const base = { model: 'up', messages: hello };
    const stream_options = { include_usage: true };
    expect(pass({}).body).toEqual(base);
    expect(pass({ stream: true }).body).toEqual({ ...base, stream: true, stream_options });
    expect(pass({ stream: true, stream_options }).body).toEqual({ ...base, stream: true, stream_options });
    expect(pass({ stream: true, stream_options: { include_obfuscation: false } }).body.stream_options).toEqual({
      include_obfuscation: false,
      include_usage: true,
    });
    expect(pass({ stream: true }, { streamUsage: 'always' }).body).toEqual({ ...base, stream: true });
  });

  test('renamed members, under either name', () => {
    const quirks = { renames: { max_completion_tokens: 'max_tokens' } };
    expect(pass({ max_completion_tokens: 5 }, quirks).body).toEqual({ model: 'up', messages: hello, max_tokens: 5 });
    expect(pass({ max_tokens: 5 }, quirks).body).toEqual({ model: 'up', messages: hello, max_tokens: 5 });
    const models = [{ match: '^up$', quirks: { rejects: ['temperature'] } }];
    expect(pass({ temperature: 1 }, { models })).toMatchObject({
      body: { model: 'up' },
      warnings: [expect.stringContaining('temperature')],
    });
  });

  test('messages only if the provider does not accept them unchanged', () => {
    const messages = [
      { role: 'developer', content: 'Be brief.', name: 'boss' },
      {
        role: 'assistant',
        content: 'a',
        reasoning_content: 'hm',
        tool_calls: [{ id: 'call_123', type: 'function', function: { name: 'f', arguments: '{}' } }],
        prefix: true,
      },
      { role: 'tool', tool_call_id: 'call_123', content: '1' },
    ];
    expect(pass({ messages }).body).toEqual({ model: 'up', messages });
    const quirks: Quirks = {
      supportsDeveloperRole: false,
      requiresToolCallIds: 'nine-alphanumeric',
      reasoningField: 'thinking-parts',
      rejectsInMessages: ['name'],
    };
    const { body, warnings } = pass({ messages }, quirks);
    const [first, second, third] = body.messages;
    expect(first).toEqual({ role: 'system', content: 'Be brief.' });
    expect(second).toMatchObject({ prefix: true, content: [{ type: 'thinking' }, { type: 'text', text: 'a' }] });
    expect(second.reasoning_content).toBeUndefined();
    expect(second.tool_calls[0].id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(third.tool_call_id).toBe(second.tool_calls[0].id);
    expect(warnings.length).toBe(1);
  });
});
