import { describe, expect, test } from 'bun:test';
import type { ChatCall } from '../../../canonical/call.ts';
import { GatewayError } from '../../../canonical/errors.ts';
import { carrySignature } from '../carried-signature.ts';
import { readCall } from './read-request.ts';

const encoder = new TextEncoder();
const VERSIONED = { 'anthropic-version': '2023-06-01' };

function read(body: object | string, headers: { [name: string]: string } = VERSIONED): ChatCall {
  const bytes = encoder.encode(typeof body === 'string' ? body : JSON.stringify(body));
  return readCall({ body: bytes, headers: new Headers(headers), path: {}, query: new URLSearchParams() });
}

function refusal(body: object | string, headers?: { [name: string]: string }): GatewayError {
  try {
    read(body, headers);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error('The request was taken.');
}

const hello = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] };

/** A conversation in which `block` is the second block of the first message. */
function withBlock(block: object) {
  return { ...hello, messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, block] }] };
}

describe('a messages request', () => {
  test('names its version, in either header', () => {
    const error = refusal(hello, {});
    expect(error.status).toBe(400);
    expect(error.message).toContain('anthropic-version');
    expect(read(hello, { 'vendor1-version': '2023-06-01' }).headers).toEqual(VERSIONED);
    const newest = read(hello, { 'anthropic-version': '2031-01-01', 'anthropic-beta': 'one,two' }).headers;
    expect(newest).toEqual({ 'anthropic-version': '2026-10-21', 'anthropic-beta': 'one,two' });
  });

  test.each([
    ['not JSON', '{"model', undefined],
    ['no object', '[1]', undefined],
    ['no model', { ...hello, model: undefined }, 'model'],
    ['no max_tokens', { ...hello, max_tokens: undefined }, 'max_tokens'],
    ['max_tokens of 0', { ...hello, max_tokens: 0 }, 'max_tokens'],
    ['max_tokens as text', { ...hello, max_tokens: '5' }, 'max_tokens'],
    ['no messages', { ...hello, messages: undefined }, 'messages'],
    ['messages as text', { ...hello, messages: 'Hello' }, 'messages'],
    ['an unknown role', { ...hello, messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    ['content as a number', { ...hello, messages: [{ role: 'user', content: 3 }] }, 'messages[0].content'],
    ['a block without a type', withBlock({ text: 'x' }), 'messages[0].content[1].type'],
    ['a text block without text', withBlock({ type: 'text' }), 'messages[0].content[1].text'],
    ['an image without a source', withBlock({ type: 'image' }), 'messages[0].content[1].source'],
    ['a strange source', withBlock({ type: 'image', source: { type: 'x' } }), 'messages[0].content[1].source.type'],
    [
      'a source without data',
      withBlock({ type: 'image', source: { type: 'base64', media_type: 'image/png' } }),
      'messages[0].content[1].source.data',
    ],
    [
      'a call whose input is text',
      withBlock({ type: 'tool_use', id: 'a', name: 'b', input: '{}' }),
      'messages[0].content[1].input',
    ],
    [
      'a bad block in a result',
      withBlock({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text' }] }),
      'messages[0].content[1].content[0].text',
    ],
    [
      'a cache mark of another life',
      withBlock({ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '2h' } }),
      'messages[0].content[1].cache_control.ttl',
    ],
    ['a temperature above 1', { ...hello, temperature: 1.5 }, 'temperature'],
    ['a temperature below 0', { ...hello, temperature: -0.1 }, 'temperature'],
    ['stop_sequences as text', { ...hello, stop_sequences: 'x' }, 'stop_sequences'],
    ['a number among the stop_sequences', { ...hello, stop_sequences: ['a', 1] }, 'stop_sequences[1]'],
    ['stream as text', { ...hello, stream: 'yes' }, 'stream'],
    ['a tool without a name', { ...hello, tools: [{ input_schema: {} }] }, 'tools[0].name'],
    ['a tool without a schema', { ...hello, tools: [{ name: 'a' }] }, 'tools[0].input_schema'],
    ['an unknown choice', { ...hello, tool_choice: { type: 'some' } }, 'tool_choice.type'],
    ['a choice without its tool', { ...hello, tool_choice: { type: 'tool' } }, 'tool_choice.name'],
    ['a small budget', { ...hello, thinking: { type: 'enabled', budget_tokens: 10 } }, 'thinking.budget_tokens'],
    ['no budget', { ...hello, thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
    ['metadata as text', { ...hello, metadata: 'x' }, 'metadata'],
    ['a system of numbers', { ...hello, system: 3 }, 'system'],
  ])('is refused with %s', (_, body, param) => {
    const error = refusal(body);
    expect(error.code).toBe('invalid_request');
    expect(error.param).toBe(param);
    if (param !== undefined) expect(error.message).toContain(`\`${param}\` `);
    expect(error.message).not.toContain('undefined');
  });

  test('may have null and unknown members', () => {
    const call = read({
      ...hello,
      temperature: null,
      tools: null,
      system: null,
      thinking: null,
      stream: null,
      x: { y: 1 },
    });
    expect(call.sampling).toEqual({});
    expect(call.tools).toEqual([]);
    expect(call.stream).toBe(false);
    expect(call.reasoning).toBeUndefined();
    expect(call.extras).toEqual({ 'anthropic-messages': { x: { y: 1 } } });
  });

  test('keeps system blocks and cache marks separate', () => {
    const mark = { type: 'ephemeral', ttl: '1h' };
    const system = [
      { type: 'text', text: 'One.', cache_control: mark },
      { type: 'text', text: 'Two.', cache_control: { type: 'ephemeral' } },
    ];
    expect(read({ ...hello, system }).messages[0]).toEqual({
      role: 'system',
      parts: [
        { type: 'text', text: 'One.', cache: { ttl: '1h' } },
        { type: 'text', text: 'Two.', cache: {} },
      ],
    });
    expect(read({ ...hello, system: 'One.' }).messages[0]).toEqual({
      role: 'system',
      parts: [{ type: 'text', text: 'One.' }],
    });
  });

  test("puts tool results before the user's text", () => {
    const content = [
      { type: 'text', text: 'And now?' },
      { type: 'tool_result', tool_use_id: 'a', content: 'fine' },
      {
        type: 'tool_result',
        tool_use_id: 'b',
        is_error: true,
        content: [{ type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }],
      },
    ];
    expect(read({ ...hello, messages: [{ role: 'user', content }] }).messages).toEqual([
      {
        role: 'tool',
        parts: [
          { type: 'tool-result', callId: 'a', parts: [{ type: 'text', text: 'fine' }], failed: false },
          {
            type: 'tool-result',
            callId: 'b',
            parts: [
              { type: 'media', media: { kind: 'image', source: { type: 'url', url: 'https://a.example/b.png' } } },
            ],
            failed: true,
          },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'And now?' }] },
    ]);
  });

  test('keeps thinking with its signatures, and blocks that only the provider knows', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'redacted_thinking', data: 'abc' },
      { type: 'thinking', thinking: 'Unsigned.', signature: '' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
    ];
    const [message] = read({ ...hello, messages: [{ role: 'assistant', content }] }).messages;
    expect(message?.parts).toEqual([
      { type: 'reasoning', text: 'Hm.', signature: { dialect: 'anthropic-messages', value: 'sig' } },
      { type: 'reasoning', text: '', signature: { dialect: 'anthropic-messages', value: 'hidden:abc' } },
      { type: 'reasoning', text: 'Unsigned.' },
      { type: 'native', dialect: 'anthropic-messages', item: content[3] as never },
    ]);
  });

  test('returns signatures of other formats to their owners', () => {
    const signature = { dialect: 'gemini', value: 'proof' };
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: carrySignature(signature) },
      { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 1 } },
      { type: 'redacted_thinking', data: carrySignature(signature, 'call_1') },
      { type: 'redacted_thinking', data: carrySignature({ ...signature, id: 'rs_1' }) },
    ];
    const [message] = read({ ...hello, messages: [{ role: 'assistant', content }] }).messages;
    expect(message?.parts).toEqual([
      { type: 'reasoning', text: 'Hm.', signature },
      { type: 'tool-call', id: 'call_1', name: 'look', input: '{"at":1}', signature },
      { type: 'reasoning', text: '', signature: { ...signature, id: 'rs_1' } },
    ]);
  });

  test('reads documents in all forms', () => {
    const about = { title: 'T', context: 'C', citations: { enabled: true } };
    const content = [
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' }, ...about },
      {
        type: 'document',
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      },
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
      { type: 'search_result', source: 'https://a.example', title: 'S', content: [{ type: 'text', text: 'found' }] },
    ];
    const [message] = read({ ...hello, messages: [{ role: 'user', content }] }).messages;
    expect(message?.parts.map((part) => part.type === 'media' && part.media)).toEqual([
      {
        kind: 'document',
        source: { type: 'text', text: 'words' },
        mimeType: 'text/plain',
        title: 'T',
        context: 'C',
        cite: true,
      },
      { kind: 'document', source: { type: 'text', text: 'a\n\nb' }, mimeType: 'text/plain' },
      { kind: 'document', source: { type: 'reference', dialect: 'anthropic-messages', id: 'file_1' } },
      {
        kind: 'document',
        source: { type: 'text', text: 'found' },
        mimeType: 'text/plain',
        title: 'S',
        context: 'https://a.example',
      },
    ]);
  });

  test('reads settings: tools, tool choice, thinking, output and others', () => {
    const call = read({
      ...hello,
      tools: [
        {
          name: 'f',
          description: 'd',
          input_schema: { type: 'object' },
          strict: true,
          cache_control: { type: 'ephemeral' },
        },
        { type: 'web_search_20250305', name: 'web_search' },
        { type: 'bash_20250124', name: 'bash' },
      ],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      thinking: { type: 'adaptive', display: 'omitted' },
      output_config: { effort: 'max', format: { type: 'json_schema', schema: { type: 'object' } } },
      metadata: { user_id: 'u' },
      service_tier: 'standard_only',
      stop_sequences: ['x'],
      top_k: 3,
      top_p: 0.5,
      container: 'c',
    });
    expect(call.tools).toEqual([
      { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true, cache: {} },
      {
        type: 'web-search',
        dialect: 'anthropic-messages',
        options: { type: 'web_search_20250305', name: 'web_search' },
      },
      { type: 'native', dialect: 'anthropic-messages', item: { type: 'bash_20250124', name: 'bash' } },
    ]);
    expect(call.toolChoice).toEqual({ type: 'required' });
    expect(call.parallelToolCalls).toBe(false);
    expect(call.reasoning).toEqual({ adaptive: true, effort: 'max', summary: 'none' });
    expect(call.output).toEqual({ type: 'json-schema', name: 'output', schema: { type: 'object' }, strict: true });
    expect(call.sampling).toEqual({ topP: 0.5, topK: 3, stop: ['x'] });
    expect([call.user, call.serviceTier, call.maxOutputTokens]).toEqual(['u', 'default', 5]);
    expect(call.extras).toEqual({ 'anthropic-messages': { container: 'c' } });
  });
});
