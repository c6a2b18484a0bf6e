/** Every official library, and the AI SDK for each, in a tool loop with a reasoning model behind Converse: nothing of a turn is lost. */
import { describe, expect, test } from 'bun:test';
import { CLIENTS, type Client, startFormatsClient } from '../clients/formats-client.ts';
import { packEvent } from '../helpers/event-stream.ts';
import { costOf, nanoCost } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';
import type { Answer } from '../upstream/answer.ts';

const SIGNATURE = 'c2VhbGVkLWJ5LXRoZS12ZW5kb3I=';
const USAGE = { inputTokens: 4, cacheReadInputTokens: 7, cacheWriteInputTokens: 0, outputTokens: 7, totalTokens: 18 };
const WEATHER = {
  name: 'get_weather',
  description: 'The weather at a place.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
};
/** Libraries that read no reasoning from a chat completion, and so cannot send it back. */
const HIDES_THINKING: readonly Client[] = ['ai-chat'];

const scene = useScene({}, { checksEachTest: false });
const libraries = useClient(startFormatsClient);

/** A block as the provider stores it, and its deltas in a stream. */
interface Block {
  whole: object;
  start?: object;
  deltas: readonly object[];
}

const thought = (text: string): Block => ({
  whole: { reasoningContent: { reasoningText: { text, signature: SIGNATURE } } },
  deltas: [{ reasoningContent: { text } }, { reasoningContent: { signature: SIGNATURE } }],
});
const textBlock = (text: string): Block => ({
  whole: { text },
  deltas: [{ text: text.slice(0, 3) }, { text: text.slice(3) }],
});
const called = (toolUseId: string, city: string): Block => {
  const use = { toolUseId, name: 'get_weather' };
  const input = JSON.stringify({ city });
  return {
    whole: { toolUse: { ...use, input: { city } } },
    start: { toolUse: use },
    deltas: [{ toolUse: { input: input.slice(0, 5) } }, { toolUse: { input: input.slice(5) } }],
  };
};

function answer(stream: boolean, stopReason: string, blocks: readonly Block[]): Answer {
  if (!stream) {
    const message = { role: 'assistant', content: blocks.map(({ whole }) => whole) };
    return { json: { output: { message }, stopReason, usage: USAGE, metrics: { latencyMs: 1 } } };
  }
  const events = [
    packEvent('messageStart', { role: 'assistant' }),
    ...blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
      ...(start ? [packEvent('contentBlockStart', { contentBlockIndex, start })] : []),
      ...deltas.map((delta) => packEvent('contentBlockDelta', { contentBlockIndex, delta })),
      packEvent('contentBlockStop', { contentBlockIndex }),
    ]),
    packEvent('messageStop', { stopReason }),
    packEvent('metadata', { usage: USAGE, metrics: { latencyMs: 1 } }),
  ];
  return {
    bytes: Buffer.concat(events),
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    chunking: { seed: 9 },
  };
}

describe.each(CLIENTS.map((client) => [client] as const))('%s with Converse', (client) => {
  test.each([[false], [true]])('a tool loop with parallel calls and reasoning works; streaming: %p', async (stream) => {
    const stage = await scene.stage({
      type: 'bedrock',
      credential: 'api-key',
      settings: { region: 'us-east-1' },
      upstreamModel: 'us.amazon.nova-2-lite-v1:0',
    });
    stage.script(
      answer(stream, 'tool_use', [
        thought('Two places.'),
        textBlock('Looking.'),
        called('tooluse_A1', 'Ōsaka'),
        called('tooluse_B2', 'Oslo'),
      ]),
      answer(stream, 'end_turn', [textBlock('Sun and snow.')]),
    );
    const view = await libraries.run({
      client,
      stream,
      url: scene.gateway.url,
      apiKey: stage.caller.key,
      model: stage.model,
      prompt: 'The weather in Ōsaka and Oslo?',
      think: true,
      tools: [WEATHER],
      result: 'fair',
    });
    expect(view.error).toBeUndefined();
    expect(view.turns.map(({ text }) => text)).toEqual(['Looking.', 'Sun and snow.']);
    expect(view.turns[0]?.calls.map(({ args }) => args)).toEqual([{ city: 'Ōsaka' }, { city: 'Oslo' }]);
    if (!HIDES_THINKING.includes(client)) expect(view.turns[0]?.reasoning).toBe('Two places.');
    for (const { usage } of view.turns) expect(usage).toMatchObject({ input: 11, output: 7, cachedInput: 7 });

    const [first, again] = stage
      .journal()
      .map(
        ({ body }) =>
          body as { messages: { role: string; content: object[] }[]; additionalModelRequestFields?: object },
      );
    expect(first?.additionalModelRequestFields).toMatchObject({ reasoningConfig: { type: 'enabled' } });
    const [, own, results] = again?.messages ?? [];
    const uses = [called('tooluse_A1', 'Ōsaka').whole, called('tooluse_B2', 'Oslo').whole];
    expect(own?.content.slice(-3)).toEqual([{ text: 'Looking.' }, ...uses]);
    // Its signature returns to the provider through the client's format, or from the gateway's signature store.
    expect(own?.content[0]).toEqual(thought('Two places.').whole);
    expect(results?.content).toMatchObject(
      ['tooluse_A1', 'tooluse_B2'].map((toolUseId) => ({ toolResult: { toolUseId } })),
    );
    const calls = await stage.settled();
    expect(calls.map(nanoCost)).toEqual(Array(2).fill(costOf({ input: 11, cachedInput: 7, output: 7 })));
  });
});
