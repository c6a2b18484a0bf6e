import { describe, expect, test } from 'bun:test';
import { chatRequest, streamAnswer, USED } from '../../../test/helpers/chat-answers.ts';
import { forTests } from '../../../test/helpers/for-tests.ts';
import { FakeSink, type GatewayCase, startGatewayBench } from '../../../test/helpers/gateway-bench.ts';
import type { ByteSource } from '../../http1/answer.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

/** What `USAGE` costs, in USD. */
const COST = (USED.input * 1 + USED.output * 4) / 1e6;

async function streamed(at: GatewayCase, ...args: Parameters<GatewayCase['serve']>): Promise<string> {
  at.transport.script(streamAnswer(['Hel', 'lo']));
  const sink = new FakeSink();
  ((await at.serve(...args)).body as ByteSource).start(sink);
  expect(await sink.over).toBe('ended');
  return sink.text;
}

const user = { role: 'user', content: 'Say hello.' };

describe('a stream reports its cost', () => {
  for (const [dialect, more, end] of [
    ['openai-chat', { messages: [user] }, 'data: [DONE]\n\n'],
    ['openai-completions', { prompt: 'Say hello.' }, 'data: [DONE]\n\n'],
    ['openai-responses', { input: 'Say hello.' }, 'event: response.completed\n'],
    ['anthropic-messages', { messages: [user], max_tokens: 20 }, 'event: message_stop\n'],
  ] as const) {
    test(`${dialect}: in a comment before its last event, once it is settled`, async () => {
      const at = await bench.open();
      const text = await streamed(
        at,
        { model: at.model, stream: true, ...more },
        { dialect, headers: { 'anthropic-version': '2023-06-01' } },
      );
      const comments = text.split('\n').filter((line) => line.startsWith(':') && line.includes('"cost"'));
      expect(comments).toHaveLength(1);
      const { cost } = JSON.parse(comments[0]?.slice(1) ?? '');
      expect(Number(cost)).toBe(COST);
      expect(at.calls[0]?.cost).toBe(BigInt(Math.round(COST * 1e9)));
      // An event of its own: no library reads it with the event that follows.
      const at0 = text.indexOf(`${comments[0]}\n\n`);
      expect(text.slice(at0 - 2, at0)).toBe('\n\n');
      const rest = text.slice(at0 + (comments[0]?.length ?? 0) + 2);
      expect(rest).toContain(end);
      expect(text.slice(0, at0)).not.toContain(end);
    });
  }

  for (const framing of ['sse', 'json-array'] as const) {
    test(`gemini (${framing}): not, since its Python library reads every line as JSON`, async () => {
      const at = await bench.open();
      const body = { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] };
      const path = { model: at.model, action: 'streamGenerateContent' };
      const query = new URLSearchParams(framing === 'sse' ? { alt: 'sse' } : {});
      const text = await streamed(at, body, { dialect: 'gemini', path, query });
      expect(text).toContain('lo');
      expect(text).not.toContain('cost');
      if (framing === 'json-array') expect(JSON.parse(text)).toBeArray();
      else for (const line of text.split('\r\n').filter(Boolean)) expect(line).toStartWith('data: {');
    });
  }

  test('one whose usage was disputed reports what was charged', async () => {
    const at = await bench.open();
    const usage = { prompt_tokens: 900_000, completion_tokens: 900_000, total_tokens: 1_800_000 };
    const [role, hel, finish] = streamAnswer(['Hel']).events ?? [];
    at.transport.script({
      events: [role, hel, finish, { id: 'c', object: 'chat.completion.chunk', choices: [], usage }],
    });
    const sink = new FakeSink();
    ((await at.serve(chatRequest(at.model, { stream: true }))).body as ByteSource).start(sink);
    expect(await sink.over).toBe('ended');
    expect(at.calls[0]?.outcome).toBe('disputed');
    const [, cost = ''] = /: \{"cost":"([\d.]+)"\}\n\n/.exec(sink.text) ?? [];
    expect(BigInt(Math.round(Number(cost) * 1e9))).toBe(at.calls[0]?.cost ?? 0n);
  });
});
