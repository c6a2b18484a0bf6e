/** Namespaces of tools, in the request and its input: flat for other providers, restored for the client. */
import { expect, test } from 'bun:test';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import { openaiResponses } from './openai-responses.ts';

const schema = { type: 'object', properties: {} };
const request = {
  model: 'm',
  tools: [
    { type: 'function', name: 'look', parameters: schema, strict: false },
    {
      type: 'namespace',
      name: 'clock',
      description: '',
      tools: [{ type: 'function', name: 'sleep', parameters: schema }],
    },
  ],
  input: [
    {
      type: 'additional_tools',
      role: 'developer',
      tools: [{ type: 'namespace', name: 'functions', description: '', tools: [{ type: 'custom', name: 'exec' }] }],
    },
    { role: 'user', content: 'Hi' },
    { type: 'function_call', call_id: 'call_0', namespace: 'clock', name: 'sleep', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_0', output: 'slept' },
  ],
};

const body = new TextEncoder().encode(JSON.stringify(request));
const call = openaiResponses.readCall({ body, headers: new Headers(), path: {}, query: new URLSearchParams() });

test('they are read as tools with the name of their namespace', () => {
  expect(call.tools).toMatchObject([
    { type: 'function', name: 'look' },
    { type: 'function', name: 'clock__sleep', group: { name: 'clock' } },
    { type: 'custom', name: 'functions__exec', group: { name: 'functions' } },
  ]);
  expect(call.messages).toMatchObject([
    { role: 'system', parts: [{ type: 'native', isReadElsewhere: true }] },
    { role: 'user' },
    { role: 'assistant', parts: [{ type: 'tool-call', name: 'clock__sleep', group: 'clock' }] },
    { role: 'tool' },
  ]);
});

test('calls of them are written with the namespace apart', () => {
  const opens = (part: number, name: string, custom: boolean): ReplyEvent[] => [
    {
      type: 'part-start',
      choice: 0,
      part,
      opens: { type: 'tool-call', id: `call_${part}`, name, ...(custom && { custom }) },
    },
    { type: 'part-end', choice: 0, part },
  ];
  const events: ReplyEvent[] = [
    { type: 'reply-start', id: 'resp_1', model: 'm' },
    ...opens(0, 'functions__exec', true),
    ...opens(1, 'clock__sleep', false),
    ...opens(2, 'look', false),
    { type: 'choice-end', choice: 0, finish: { reason: 'tool-calls' } },
    { type: 'reply-end' },
  ];
  const writer = openaiResponses.writer(call);
  const written = [writer.write({ bytes: new Uint8Array(), events }), writer.end()];
  const reply = JSON.parse(written.map((bytes) => new TextDecoder().decode(bytes)).join(''));
  expect(reply.output).toMatchObject([
    { type: 'custom_tool_call', name: 'exec', namespace: 'functions' },
    { type: 'function_call', name: 'sleep', namespace: 'clock' },
    { type: 'function_call', name: 'look' },
  ]);
  expect(reply.output[2].namespace).toBeUndefined();
});
