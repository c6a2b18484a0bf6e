import { describe, expect, test } from 'bun:test';
import Schema from 'typebox/schema';
import { type Body, chatBody, user } from '../../test/helpers/sandbox-chat.ts';
import { SseCutter } from '../dialects/wire/sse.ts';
import { createSandbox } from './sandbox.ts';

const sandbox = createSandbox({ sleep: () => Promise.resolve(), now: () => 0 });

function post(body: object): Promise<Response> {
  const url = 'http://sandbox.invalid/v1/chat/completions';
  return sandbox(new Request(url, { method: 'POST', body: JSON.stringify(body) }));
}

async function chat(more: object = {}, prompt?: unknown): Promise<Body> {
  return (await post(chatBody(more, prompt))).json();
}

/** The chunks of a streamed response. */
async function streamed(body: object): Promise<Body[]> {
  const response = await post({ ...body, stream: true });
  const events = new SseCutter().read(new Uint8Array(await response.arrayBuffer()));
  return events.slice(0, -1).map((event) => JSON.parse(event.data ?? ''));
}

const tool = (name: string, parameters: object = { type: 'object', properties: {} }, description = '') => ({
  type: 'function',
  function: { name, description, parameters },
});

const WEATHER = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 2 },
    unit: { enum: ['celsius', 'fahrenheit'] },
    days: { type: 'integer', minimum: 3, maximum: 5 },
    places: { type: 'array', items: { $ref: '#/$defs/place' }, minItems: 2 },
    note: { anyOf: [{ type: 'null' }, { type: 'string' }] },
  },
  required: ['city', 'unit', 'days', 'places', 'note'],
  additionalProperties: false,
  $defs: {
    place: { type: 'object', properties: { lat: { type: 'number', minimum: -90, maximum: 90 } }, required: ['lat'] },
  },
};

describe('structured output', () => {
  test('matches the schema', async () => {
    const reply = await chat({
      response_format: { type: 'json_schema', json_schema: { name: 'weather', schema: WEATHER, strict: true } },
    });
    expect(Schema.Check(WEATHER as never, JSON.parse(reply.choices[0].message.content))).toBe(true);
  });

  test('is an object if no schema is given', async () => {
    const reply = await chat({ response_format: { type: 'json_object' } });
    expect(JSON.parse(reply.choices[0].message.content)).toEqual({ sandbox: true });
  });

  test('is refused for a schema that no value matches', async () => {
    const format = { type: 'json_schema', json_schema: { name: 'none', schema: false } };
    expect((await post(chatBody({ response_format: format }))).status).toBe(400);
  });
});

describe('tools', () => {
  const tools = [
    tool('get_weather', WEATHER, 'The weather in a city'),
    tool('sendMail', undefined, 'Sends a letter to somebody else'),
  ];
  const called = (reply: Body): string[] =>
    (reply.choices[0].message.tool_calls ?? []).map((call: Body) => call.function.name);

  test('are called with arguments that match their schema', async () => {
    const reply = await chat({ tools }, 'Any plans?');
    expect(reply.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    const [call] = reply.choices[0].message.tool_calls;
    expect(call).toMatchObject({ id: expect.stringMatching(/^call_\w+$/), type: 'function' });
    expect(Schema.Check(WEATHER as never, JSON.parse(call.function.arguments))).toBe(true);
  });

  test("are selected by the user's message, several at once by default", async () => {
    expect(await chat({ tools }, 'How is the weather in your city?').then(called)).toEqual(['get_weather']);
    expect(await chat({ tools }, 'Send mail to Ann').then(called)).toEqual(['sendMail']);
    expect(await chat({ tools }, 'I sent a letter, and somebody else wrote').then(called)).toEqual(['sendMail']);
    const both = 'Use get_weather, then send mail';
    const reply = await chat({ tools }, both);
    expect(called(reply)).toEqual(['get_weather', 'sendMail']);
    expect(new Set(reply.choices[0].message.tool_calls.map((call: Body) => call.id)).size).toBe(2);
    expect(await chat({ tools, parallel_tool_calls: false }, both).then(called)).toEqual(['get_weather']);
  });

  test.each<[string, unknown, string[]]>([
    ['auto', 'auto', ['get_weather']],
    ['none', 'none', []],
    ['required', 'required', ['get_weather']],
    ['a name', { type: 'function', function: { name: 'sendMail' } }, ['sendMail']],
    [
      'allowed tools',
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool('sendMail')] } },
      ['sendMail'],
    ],
  ])('follow the tool choice %s', async (_what, tool_choice, names) => {
    expect(await chat({ tools, tool_choice }, 'Hm').then(called)).toEqual(names);
  });

  test('a tool choice that is not offered is refused', async () => {
    const response = await post(chatBody({ tools, tool_choice: { type: 'function', function: { name: 'none' } } }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param: 'tool_choice' } });
  });

  test('in a stream, a call has its name once and its arguments in pieces', async () => {
    const whole = await chat({ tools }, 'Use get_weather and send mail');
    const chunks = await streamed(chatBody({ tools }, 'Use get_weather and send mail'));
    const deltas = chunks.flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []);
    for (const [index, call] of whole.choices[0].message.tool_calls.entries()) {
      const [head, ...rest] = deltas.filter((delta) => delta.index === index);
      expect(head).toEqual({
        index,
        id: expect.stringMatching(/^call_\w+$/),
        type: 'function',
        function: { name: call.function.name, arguments: '' },
      });
      expect(rest.map((delta) => delta.function.arguments).join('')).toBe(call.function.arguments);
      expect(rest.length).toBeGreaterThan(0);
    }
    expect(chunks.at(-1).choices[0].finish_reason).toBe('tool_calls');
  });

  test('results are quoted in the answer, and cause no further call unless one is required', async () => {
    const first = await chat({ tools }, 'Weather?');
    const { message } = first.choices[0];
    const messages = [
      user('Weather?'),
      message,
      { role: 'tool', tool_call_id: message.tool_calls[0].id, content: '21 degrees' },
    ];
    const second = await chat({ tools, messages });
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop' });
    expect(second.choices[0].message.content).toContain('get_weather said "21 degrees"');
    expect(await chat({ tools, messages, tool_choice: 'required' }).then(called)).toEqual(['get_weather']);
    expect(await chat({ tools, messages: [...messages, user('And mail?')] }).then(called)).not.toEqual([]);
  });

  test('are not called when the message matches little of their description', async () => {
    const shy = tool('shy', undefined, 'Reads every letter anybody ever wrote and counts their vowels carefully');
    expect(await chat({ tools: [tool('first'), shy] }, 'Who wrote that letter?').then(called)).toEqual(['first']);
  });

  test('the token limit truncates a call and omits the next one', async () => {
    const { choices, usage } = await chat({ tools, max_tokens: 4 }, 'Use get_weather and send mail');
    expect(choices[0].finish_reason).toBe('length');
    expect(choices[0].message.tool_calls).toHaveLength(1);
    expect(usage.completion_tokens).toBe(4);
  });

  test('a custom tool gets free text', async () => {
    const reply = await chat({ tools: [{ type: 'custom', custom: { name: 'run' } }] }, 'print 1');
    expect(reply.choices[0].message.tool_calls[0]).toMatchObject({
      type: 'custom',
      custom: { name: 'run', input: 'print 1' },
    });
  });
});

describe('sandbox-reasoner', () => {
  const think = (more: object = {}) => chat({ model: 'sandbox-reasoner', ...more });

  test('reasons before it answers, and counts reasoning tokens', async () => {
    const { choices, usage } = await think();
    expect(choices[0].message.reasoning_content).toContain('sandbox');
    const { reasoning_tokens } = usage.completion_tokens_details;
    expect(reasoning_tokens).toBeGreaterThan(0);
    expect(usage.completion_tokens).toBeGreaterThan(reasoning_tokens);
    const chunks = await streamed(chatBody({ model: 'sandbox-reasoner' }));
    const kinds = chunks.map((chunk) => Object.keys(chunk.choices[0].delta)[0]);
    expect(kinds.lastIndexOf('reasoning_content')).toBeLessThan(kinds.indexOf('content', 1));
    expect(chunks.map((chunk) => chunk.choices[0].delta.reasoning_content ?? '').join('')).toBe(
      choices[0].message.reasoning_content,
    );
  });

  test('reasons longer with a higher effort', async () => {
    const counts: number[] = [];
    for (const reasoning_effort of ['none', 'minimal', 'low', 'medium', 'high', 'xhigh']) {
      counts.push((await think({ reasoning_effort })).usage.completion_tokens_details.reasoning_tokens);
    }
    expect(counts[0]).toBe(0);
    expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
  });

  test('may use its whole token limit for reasoning', async () => {
    const { choices, usage } = await think({ max_completion_tokens: 3 });
    expect(choices[0]).toMatchObject({ finish_reason: 'length', message: { content: '' } });
    expect(usage.completion_tokens_details.reasoning_tokens).toBe(3);
  });
});
