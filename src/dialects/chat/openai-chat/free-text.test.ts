/** Free-text tools at providers that only have functions: wrapped in the request, unwrapped in the reply. */
import { expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import type { ReplyEvent } from '../../../canonical/reply.ts';
import { openaiChat } from './openai-chat.ts';

const call = chatCall({
  tools: [{ type: 'custom', name: 'exec', description: 'Runs.', format: { type: 'text' } }],
  toolChoice: { type: 'tool', name: 'exec' },
  messages: [
    { role: 'user', parts: [{ type: 'text', text: 'Go' }] },
    { role: 'assistant', parts: [{ type: 'tool-call', id: 'call_1', name: 'exec', input: 'a "b"', custom: true }] },
  ],
});
const bodyFor = (quirks: object) => JSON.parse(new TextDecoder().decode(openaiChat.writeCall(call, 'm', quirks).body));

test('a request has a function with one string; for a provider with free-text tools, the tool itself', () => {
  const wrapped = bodyFor({ supportsFreeTextTools: false });
  expect(wrapped.tools).toMatchObject([{ type: 'function', function: { name: 'exec', description: 'Runs.' } }]);
  expect(wrapped.tools[0].function.parameters.required).toEqual(['input']);
  expect(wrapped.tool_choice).toEqual({ type: 'function', function: { name: 'exec' } });
  const [{ function: made }] = wrapped.messages[1].tool_calls;
  expect(made).toEqual({ name: 'exec', arguments: JSON.stringify({ input: 'a "b"' }) });
  const native = bodyFor({});
  expect(native.tools).toMatchObject([{ type: 'custom', custom: { name: 'exec' } }]);
  expect(native.messages[1].tool_calls).toMatchObject([{ type: 'custom', custom: { input: 'a "b"' } }]);
});

test.each([
  ['{"input":"line\\n} x"}', 'line\n} x'],
  ['{"other":1}', '{"other":1}'],
  ['', ''],
])('arguments %p are the text %p, however they are split', (args, text) => {
  for (const size of [1, 7, 1000]) {
    const reader = openaiChat.reader(call, 'text/event-stream', {});
    const events: ReplyEvent[] = [];
    const feed = (delta: object, finish: string | null = null) => {
      const chunk = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] };
      const bytes = new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`);
      events.push(...reader.read(bytes).flatMap((frame) => frame.events));
    };
    feed({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'exec', arguments: '' } }] });
    for (let at = 0; at < args.length; at += size) {
      feed({ tool_calls: [{ index: 0, function: { arguments: args.slice(at, at + size) } }] });
    }
    feed({}, 'tool_calls');
    const opened = events.find((event) => event.type === 'part-start');
    expect(opened).toMatchObject({ opens: { type: 'tool-call', name: 'exec', custom: true } });
    const received = events.map((event) => (event.type === 'part-delta' ? event.delta : '')).join('');
    expect(received).toBe(text);
  }
});
