import { expect, test } from 'bun:test';
import { createSandbox } from './sandbox.ts';

const sandbox = createSandbox({ sleep: () => Promise.resolve() });

const ask = (path: string, body: object) =>
  sandbox(
    new Request(`http://sandbox.invalid${path}`, {
      method: 'POST',
      headers: { 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body),
    }),
  );

const chat = (content: unknown, more: object = {}) => ({
  model: 'sandbox-chat',
  messages: [{ role: 'user', content }],
  ...more,
});
const responses = (content: unknown, more: object = {}) => ({
  model: 'sandbox-chat',
  input: [{ role: 'user', content }],
  ...more,
});
const messages = (content: unknown) => ({ ...chat(content), max_tokens: 10 });
const contents = (...parts: unknown[]) => ({ contents: [{ role: 'user', parts }] });
const GOOGLE = '/v1beta/models/sandbox-chat:generateContent';
const CALL = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'x' });
const turns = (...contents: unknown[][]) => ({
  ...messages('Hi'),
  messages: [
    { role: 'user', content: 'Hi' },
    ...contents.map((content, place) => ({ role: place % 2 === 0 ? 'assistant' : 'user', content })),
  ],
});
const block = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });

test.each<[string, string, object, string]>([
  [
    'options of a stream without a stream',
    '/v1/chat/completions',
    chat('Hi', { stream_options: {} }),
    'stream_options',
  ],
  [
    'the same in completions',
    '/v1/completions',
    { model: 'sandbox-chat', prompt: 'Hi', stream_options: {} },
    'stream_options',
  ],
  ['the same in responses', '/v1/responses', responses('Hi', { stream_options: {} }), 'stream_options'],
  ['a message without content', '/v1/chat/completions', chat(undefined), 'messages[0].content'],
  ['a message of no parts', '/v1/chat/completions', chat([]), 'messages[0].content'],
  ['a part of unknown type', '/v1/chat/completions', chat([{ type: 'hologram' }]), 'messages[0].content[0].type'],
  [
    'an image that is not base64',
    '/v1/chat/completions',
    chat([{ type: 'image_url', image_url: { url: 'data:image/png;base64,%%%' } }]),
    'messages[0].content[0].image_url.url',
  ],
  [
    'an image that is no address',
    '/v1/chat/completions',
    chat([{ type: 'image_url', image_url: { url: 'cat.png' } }]),
    'messages[0].content[0].image_url.url',
  ],
  [
    'audio that is not base64',
    '/v1/chat/completions',
    chat([{ type: 'input_audio', input_audio: { data: 'not base64!', format: 'wav' } }]),
    'messages[0].content[0].input_audio.data',
  ],
  [
    'a file that is not base64',
    '/v1/chat/completions',
    chat([{ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,a' } }]),
    'messages[0].content[0].file.file_data',
  ],
  [
    'too many tools',
    '/v1/chat/completions',
    chat('Hi', { tools: Array.from({ length: 129 }, (_, i) => ({ type: 'function', function: { name: `f${i}` } })) }),
    'tools',
  ],
  [
    'a tool’s result without a call',
    '/v1/chat/completions',
    {
      model: 'sandbox-chat',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ],
    },
    'messages[1].tool_call_id',
  ],
  [
    'a call without its result',
    '/v1/chat/completions',
    {
      model: 'sandbox-chat',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [CALL('a'), CALL('b')] },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
        { role: 'user', content: 'Well?' },
      ],
    },
    'messages[3]',
  ],
  [
    'a call as the last message',
    '/v1/chat/completions',
    {
      model: 'sandbox-chat',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', tool_calls: [CALL('a')] },
      ],
    },
    'messages[1]',
  ],
  [
    'an output without a call in responses',
    '/v1/responses',
    {
      model: 'sandbox-chat',
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'x' },
      ],
    },
    'input[2].call_id',
  ],
  ['an item without content', '/v1/responses', responses(undefined), 'input[0].content'],
  [
    'a part of unknown type in responses',
    '/v1/responses',
    responses([{ type: 'hologram' }]),
    'input[0].content[0].type',
  ],
  [
    'an image in responses',
    '/v1/responses',
    responses([{ type: 'input_image', image_url: 'data:image/png;base64,%%%' }]),
    'input[0].content[0].image_url',
  ],
])('%s is refused', async (_what, path, body, param) => {
  const response = await ask(path, body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } });
});

test.each<[string, string, object, string]>([
  ['a block of unknown type', '/v1/messages', messages([{ type: 'hologram' }]), 'messages[0].content[0].type'],
  ['a message of no blocks', '/v1/messages', messages([]), 'messages[0].content'],
  ['an image that is not base64', '/v1/messages', messages([block('%%%')]), 'messages[0].content[0].source.data'],
  [
    'inline data that is not base64',
    GOOGLE,
    contents({ inlineData: { mimeType: 'image/png', data: '%%%' } }),
    'inlineData.data',
  ],
  ['a part without data', GOOGLE, contents({ hologram: {} }), 'contents[0].parts[0]'],
  ['a result without its block', '/v1/messages', messages([result('a')]), 'messages[0].content[0].tool_use_id'],
  [
    'a result of an earlier turn',
    '/v1/messages',
    turns([use('a')], [result('a')], [use('b')], [result('a'), result('b')]),
    'messages[4].content[0].tool_use_id',
  ],
  [
    'a block without its result',
    '/v1/messages',
    turns([use('a'), use('b')], [result('a')]),
    '`tool_use` ids were found without',
  ],
  ['contents without parts', GOOGLE, contents(), 'contents[0].parts'],
])('%s is refused in its format', async (_what, path, body, named) => {
  const response = await ask(path, body);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(named);
});

test.each<[string, string, object]>([
  [
    'a tool’s turn',
    '/v1/chat/completions',
    {
      model: 'sandbox-chat',
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ],
    },
  ],
  [
    'options of a stream',
    '/v1/chat/completions',
    chat('Hi', { stream: true, stream_options: { include_usage: true } }),
  ],
  [
    'a turn of tools',
    '/v1/messages',
    turns([use('a'), use('b')], [result('b'), result('a')], [use('c')], [result('c')]),
  ],
  ['a turn that ends in a block', '/v1/messages', turns([use('a')])],
  [
    'an output of a stored call',
    '/v1/responses',
    {
      model: 'sandbox-chat',
      previous_response_id: 'resp_1',
      input: [{ type: 'function_call_output', call_id: 'a', output: 'x' }],
    },
  ],
  ['base64 in lines', '/v1/messages', messages([block('iVBO\nRw==')])],
  ['base64 for addresses, unpadded', GOOGLE, contents({ inlineData: { mimeType: 'image/png', data: '_-8' } })],
  ['a signature alone', GOOGLE, contents({ text: 'Hi' }, { thoughtSignature: 'AAAA' })],
])('%s is accepted', async (_what, path, body) => {
  expect((await ask(path, body)).status).toBe(200);
});
