/**
 * The Open Responses compliance cases, each event and body checked against the published schema, with the sandbox and providers of every
 * format.
 */
import { describe, expect, test } from 'bun:test';
import type { ModelOutput } from '../helpers/model-output.ts';
import { PROVIDERS, type ProviderName } from '../helpers/provider-answers.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import { faultsOfEvent, faultsOfResponse, type ResponseObject, type StreamEvent } from '../open-responses/schema.ts';

const scene = useScene({}, { checksEachTest: false });

const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
};
const BARE_WEATHER = { type: 'function', name: 'get_weather' };
const CALL = { id: 'call_1', name: 'get_weather', args: { location: 'San Francisco, CA' } };
const RED_DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';

interface Case {
  name: string;
  request: object;
  stream?: true;
  /** The output of the provider's model. */
  output: ModelOutput;
  /** The expected type of one item. */
  item: 'message' | 'function_call';
}

const HELLO: ModelOutput = { texts: ['Hello to ', 'you.'] };
const CASES: readonly Case[] = [
  { name: 'a text', request: { input: [user('Say hello in exactly 3 words.')] }, output: HELLO, item: 'message' },
  { name: 'a stream', stream: true, request: { input: [user('Count from 1 to 5.')] }, output: HELLO, item: 'message' },
  {
    name: 'a system prompt',
    request: { input: [{ type: 'message', role: 'system', content: 'You are a pirate.' }, user('Say hello.')] },
    output: HELLO,
    item: 'message',
  },
  {
    name: 'a tool call',
    request: { input: [user("What's the weather like in San Francisco?")], tools: [WEATHER], tool_choice: 'required' },
    output: { calls: [CALL] },
    item: 'function_call',
  },
  {
    name: 'a tool call in a stream',
    stream: true,
    request: { input: [user("What's the weather like in San Francisco?")], tools: [WEATHER], tool_choice: 'required' },
    output: { calls: [CALL] },
    item: 'function_call',
  },
  {
    name: 'an image',
    request: {
      input: [
        user([
          { type: 'input_text', text: 'What is in this image?' },
          { type: 'input_image', image_url: `data:image/png;base64,${RED_DOT}` },
        ]),
      ],
    },
    output: HELLO,
    item: 'message',
  },
  {
    name: 'several turns',
    request: {
      input: [
        user('My name is Alice.'),
        { type: 'message', role: 'assistant', content: 'Hello Alice!' },
        user('What is my name?'),
      ],
    },
    output: HELLO,
    item: 'message',
  },
  {
    name: "a tool's result",
    request: {
      input: [
        user("What's the weather like?"),
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"location":"Rome"}' },
        { type: 'function_call_output', call_id: 'call_1', output: '21 degrees' },
      ],
      tools: [BARE_WEATHER],
    },
    output: HELLO,
    item: 'message',
  },
  {
    name: 'structured output',
    request: {
      input: 'Name a city.',
      text: {
        format: {
          type: 'json_schema',
          name: 'city',
          schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    },
    output: { texts: ['{"city":"Rome"}'] },
    item: 'message',
  },
  {
    name: 'settings of its own, in a stream',
    stream: true,
    request: {
      input: 'Think.',
      instructions: 'Be brief.',
      reasoning: { effort: 'low' },
      max_output_tokens: 500,
      metadata: { a: 'b' },
    },
    output: { thought: 'Well.', texts: ['Yes.'] },
    item: 'message',
  },
];

const UPSTREAMS: readonly (ProviderName | 'sandbox')[] = ['sandbox', 'chat', 'messages', 'gemini', 'responses'];

describe.each(UPSTREAMS)('with %s', (name) => {
  test.each(CASES)('$name', async ({ request, stream = false, output, item }) => {
    const provider = name === 'sandbox' ? undefined : PROVIDERS[name];
    const stage = await scene.stage(provider && { type: provider.type, upstreamModel: provider.upstreamModel });
    if (provider) stage.script(stream ? provider.stream(output) : provider.whole(output));
    const model = provider ? stage.model : 'sandbox-chat';
    const response = await stage.post('/v1/responses', { model, stream, ...request });
    const text = await response.text();
    expect({ status: response.status, text: response.status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
    const final = stream ? finalOf(text, item) : (JSON.parse(text) as ResponseObject);
    expect(faultsOfResponse(final)).toEqual([]);
    expect(final.status).toBe('completed');
    expect(final.completed_at).toEqual(expect.any(Number));
    expect(final.output.map(({ type }) => type)).toContain(item);
  });
});

/** The response in the last event of a stream whose events are all valid and in order. */
function finalOf(text: string, item: Case['item']): ResponseObject {
  const events = text
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice('data: '.length)) as StreamEvent] : []));
  expect(events.flatMap(faultsOfEvent)).toEqual([]);
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, place) => place));
  const types = events.map(({ type }) => type);
  expect(types[0]).toBe('response.created');
  const delta = item === 'message' ? 'response.output_text' : 'response.function_call_arguments';
  expect(types).toContain(`${delta}.delta`);
  expect(types).toContain(`${delta}.done`);
  for (const word of ['added', 'done']) {
    const items = events.filter(({ type }) => type === `response.output_item.${word}`);
    expect(items.map((event) => event.item?.type)).toContain(item);
  }
  const final = events.at(-1);
  expect(final?.type).toBe('response.completed');
  return final?.response as ResponseObject;
}
