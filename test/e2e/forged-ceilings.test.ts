/** A hold cannot be forged: 64 concurrent calls with two conflicting limits each, and a balance for a few of them. */
import { expect, test } from 'bun:test';
import { chatRequest, USAGE } from '../helpers/chat-answers.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const CALLS = 64;
const HELD = 1;
const FORGED = 100_000;
/** USD per million tokens; the input of a call is about 100 tokens. */
const PRICE = { input: 1, output: 4 };
const CEILINGS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_new_tokens', 'num_predict'];

const scene = useScene({}, { checksEachTest: false });

/** A provider that follows the highest limit it finds. */
function startGreedyProvider() {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = (await request.json()) as { [member: string]: unknown };
      const written = Math.max(...CEILINGS.map((member) => Number(body[member] ?? 0)));
      const message = { role: 'assistant', content: 'x' };
      return Response.json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'length' }],
        usage: { ...USAGE, completion_tokens: written, total_tokens: USAGE.prompt_tokens + written },
      });
    },
  });
}

const TYPES = ['deepseek', 'mistral', 'ollama', 'together', 'dashscope', 'zhipu', 'siliconflow', 'openai-compatible'];

test.each(TYPES)('%s: 64 concurrent calls with two limits each never make the balance negative', async (type) => {
  const provider = startGreedyProvider();
  try {
    const baseUrls = [`http://127.0.0.1:${provider.port}/v1`];
    const stage = await scene.stage({ type, baseUrls, price: PRICE, amount: '0.01' });
    const body = chatRequest(stage.model, { max_completion_tokens: HELD, max_tokens: FORGED });
    const statuses = await Promise.all(
      Array.from({ length: CALLS }, async () => {
        const response = await stage.post('/v1/chat/completions', body);
        await response.arrayBuffer();
        return response.status;
      }),
    );
    expect(new Set(statuses).size).toBeLessThanOrEqual(2);
    expect(statuses.filter((status) => status !== 200 && status !== 402)).toEqual([]);
    const calls = await stage.settled();
    expect(Math.max(...calls.map(({ usage }) => usage?.output ?? 0))).toBe(HELD);
    const { available } = (await scene.gateway.balance(stage.caller)) as { available: string };
    expect(Number(available)).toBeGreaterThanOrEqual(0);
  } finally {
    await provider.stop(true);
  }
});
