/** Requests in both directions: what a client may send, and what a provider is sent for calls of other formats. */
import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import type { ChatCall, Part } from '../../../canonical/call.ts';
import type { Json, JsonObject } from '../../../canonical/json.ts';
import { carrySignature } from '../carried-signature.ts';
import { openaiResponses } from './openai-responses.ts';

const OWN = openaiResponses.name;
const decoder = new TextDecoder();
const foreign = { dialect: 'gemini', value: 'proof' };

function read(members: JsonObject): ChatCall {
  const body = new TextEncoder().encode(JSON.stringify({ model: 'm', ...members }));
  return openaiResponses.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });
}

function write(call: Partial<ChatCall>, model = 'gpt-5'): { body: JsonObject; warnings: readonly string[] } {
  const { body, warnings } = openaiResponses.writeCall(chatCall(call), model, {});
  return { body: JSON.parse(decoder.decode(body)), warnings };
}

const turn = (role: 'user' | 'assistant', ...parts: Part[]) => ({ role, parts });
const text = (words: string): Part => ({ type: 'text', text: words });

describe('a request is read', () => {
  test('as turns: the output of one model run is one message', () => {
    const call = read({
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'Rules.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Hi' },
            { type: 'input_image', image_url: 'https://a/b.png', detail: 'low' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'secret' },
        {
          type: 'message',
          role: 'assistant',
          phase: 'commentary',
          content: [{ type: 'output_text', text: 'Looking', annotations: [] }],
        },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'c1',
          output: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }],
        },
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} },
      ],
    });
    expect(call.messages).toEqual([
      { role: 'system', originRole: 'instructions', parts: [text('Be brief.')] },
      { role: 'system', originRole: 'developer', parts: [text('Rules.')] },
      turn('user', text('Hi'), {
        type: 'media',
        media: { kind: 'image', source: { type: 'url', url: 'https://a/b.png' }, detail: 'low' },
      }),
      turn(
        'assistant',
        { type: 'reasoning', text: 'Hm', summary: true, signature: { dialect: OWN, value: 'secret', id: 'rs_1' } },
        { type: 'text', text: 'Looking', signature: { dialect: OWN, value: '{"phase":"commentary"}' } },
        { type: 'tool-call', id: 'c1', name: 'look', input: '{}' },
      ),
      {
        role: 'tool',
        parts: [
          {
            type: 'tool-result',
            callId: 'c1',
            failed: false,
            parts: [
              {
                type: 'media',
                media: { kind: 'image', source: { type: 'inline', base64: 'AAAA' }, mimeType: 'image/png' },
              },
            ],
          },
        ],
      },
      turn('assistant', {
        type: 'native',
        dialect: OWN,
        item: { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} },
      }),
    ]);
  });

  test('with signatures of other providers returned to their parts', () => {
    const carried = (of?: string) => ({
      type: 'reasoning',
      summary: [],
      encrypted_content: carrySignature(foreign, of),
    });
    const { messages } = read({
      input: [
        carried(),
        { role: 'assistant', content: 'Hello' },
        carried('text'),
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        carried('c1'),
      ],
    });
    expect(messages[0]?.parts).toMatchObject([
      { type: 'reasoning', text: '', signature: foreign },
      { type: 'text', signature: foreign },
      { type: 'tool-call', signature: foreign },
    ]);
  });

  test('with its settings as call fields and the rest as extras', () => {
    const call = read({
      input: 'Hi',
      tools: [
        { type: 'function', name: 'f', parameters: { type: 'object' } },
        { type: 'web_search', search_context_size: 'low' },
        { type: 'mcp', server_label: 's' },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
      reasoning: { effort: 'low', summary: 'auto', context: 'all_turns' },
      text: { format: { type: 'json_schema', name: 'n', schema: {}, strict: true }, verbosity: 'low' },
      max_output_tokens: 50,
      store: false,
      previous_response_id: 'resp_1',
    });
    expect(call).toMatchObject({
      messages: [turn('user', text('Hi'))],
      tools: [
        { type: 'function', name: 'f', strict: true },
        { type: 'web-search', options: { search_context_size: 'low' } },
        { type: 'native', dialect: OWN },
      ],
      toolChoice: { type: 'allowed', mode: 'required', names: ['f'] },
      reasoning: { effort: 'low', summary: 'auto' },
      output: { type: 'json-schema', name: 'n', strict: true },
      verbosity: 'low',
      maxOutputTokens: 50,
    });
    expect(call.extras[OWN]).toEqual({
      store: false,
      previous_response_id: 'resp_1',
      reasoning: { context: 'all_turns' },
    });
  });

  test.each([
    [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input[0].content[0].text'],
    [{ input: [{ role: 'nobody', content: 'x' }] }, 'input[0].role'],
    [{ input: [{ role: 'user', content: 3 }] }, 'input[0].content'],
    [{ input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }, 'input[0].call_id'],
    [{ input: [{ type: 'item_reference' }] }, 'input[0].id'],
    [{ input: 3 }, 'input'],
    [{ input: ['x'] }, 'input[0]'],
    [{ temperature: 3 }, 'temperature'],
    [{ max_output_tokens: 1.5 }, 'max_output_tokens'],
    [{ truncation: 'never' }, 'truncation'],
    [{ reasoning: { effort: 7 } }, 'reasoning.effort'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
    [{ text: { format: { type: 'json_schema', name: 'x' } } }, 'text.format.schema'],
    [{ model: undefined as unknown as Json }, 'model'],
  ] as const)('%j is refused for `%s`', (members, param) => {
    expect(() => read(members as unknown as JsonObject)).toThrow(
      expect.objectContaining({ code: 'invalid_request', param }),
    );
  });

  test('with references to earlier items', () => {
    const item = { id: 'msg_1', type: 'message', role: 'assistant', content: 'Hello' };
    const { messages } = read({
      input: [item, { role: 'user', content: 'Again' }, { type: 'item_reference', id: 'msg_1' }],
    });
    expect(messages[2]).toEqual(turn('assistant', text('Hello')));
  });
});

describe('a call of another format is written', () => {
  test('with nothing stored at the provider, tools that are not strict, and leading instructions', () => {
    const { body, warnings } = write({
      messages: [
        { role: 'system', parts: [text('One.')] },
        { role: 'system', originRole: 'developer', parts: [text('Two.')] },
        turn('user', text('Hi')),
        { role: 'system', parts: [text('Later.')] },
      ],
      tools: [{ type: 'function', name: 'f' }],
      toolChoice: { type: 'tool', name: 'f' },
      maxOutputTokens: 100,
    });
    expect(body).toEqual({
      model: 'gpt-5',
      instructions: 'One.\n\nTwo.',
      input: [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Later.' },
      ],
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }],
      tool_choice: { type: 'function', name: 'f' },
      max_output_tokens: 100,
      store: false,
      include: ['reasoning.encrypted_content'],
      stream: true,
    });
    expect(warnings).toEqual([]);
  });

  test('with its own reasoning before the call it led to, and no other', () => {
    const own = { dialect: OWN, value: 'secret', id: 'rs_1' };
    const { body, warnings } = write({
      messages: [
        turn(
          'assistant',
          { type: 'reasoning', text: 'Not mine', signature: foreign },
          { type: 'reasoning', text: 'Mine', signature: own },
          { type: 'tool-call', id: 'c1', name: 'look', input: '' },
        ),
        { role: 'tool', parts: [{ type: 'tool-result', callId: 'c1', parts: [text('boom')], failed: true }] },
      ],
    });
    expect(body.input).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Mine' }], encrypted_content: 'secret' },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'Error: boom' },
    ]);
    expect(warnings.join()).toContain('Earlier thinking was dropped');
  });

  test('with a warning for everything it cannot express', () => {
    const { body, warnings } = write({
      sampling: { stop: ['x'], n: 2, topK: 3, seed: 4, presencePenalty: 1, frequencyPenalty: 0, logitBias: { a: 1 } },
      maxOutputTokens: 5,
      extras: { other: { peculiar: true } },
    });
    expect(body).toMatchObject({ max_output_tokens: 16 });
    for (const word of ['stop', 'n', 'top_k', 'seed', 'presence_penalty', 'logit_bias', 'peculiar']) {
      expect(warnings.some((warning) => warning.startsWith(`\`${word}\` was dropped`))).toBe(true);
    }
    expect(warnings.length).toBe(8);
  });

  test("with names and ids in the provider's form, which the reply restores", () => {
    const name = 'files:read.all';
    const call = chatCall({ tools: [{ type: 'function', name }] });
    const { body } = write({ tools: call.tools });
    const [tool] = body.tools as JsonObject[];
    expect(tool?.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    const reply = {
      output: [{ type: 'function_call', call_id: 'c', name: tool?.name, arguments: '{}' }],
      status: 'completed',
    };
    const reader = openaiResponses.reader(call, 'application/json', {});
    reader.read(new TextEncoder().encode(JSON.stringify(reply)));
    const events = reader.end().flatMap((frame) => frame.events);
    expect(events.find((event) => event.type === 'part-start')).toMatchObject({ opens: { name } });
  });
});

describe('a request is passed on', () => {
  test('with only its model changed', () => {
    const { body, warnings } = openaiResponses.passCall(read({ input: 'Hi' }), 'other', {});
    expect([JSON.parse(decoder.decode(body)), warnings]).toEqual([{ model: 'other', input: 'Hi' }, []]);
    const plain = read({ input: 'Hi' });
    expect(openaiResponses.passCall(plain, 'm', {}).body).toBe(plain.origin.body);
  });

  test('and its input if that has signatures of another provider', () => {
    const call = read({
      input: [
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: carrySignature(foreign) },
        { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'own' },
        { role: 'assistant', content: 'Hello', peculiar: 1 },
      ],
    });
    const { body, warnings } = openaiResponses.passCall(call, 'm', {});
    expect(JSON.parse(decoder.decode(body)).input).toEqual([
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'own' },
      { role: 'assistant', content: 'Hello', peculiar: 1 },
    ]);
    expect(warnings.length).toBe(1);
  });
});
