/**
 * Every official library with aimock in each of its formats: without faults, and with random drops, malformed data, disconnects and rate
 * limits.
 */

import { describe, expect, test } from 'bun:test';
import { type Aimock, CHAT_FIXTURES, CHAT_TEXT, startAimocks } from '../clients/aimock.ts';
import type { Conversation, ConversationView } from '../clients/formats-client.ts';
import { CLIENTS, FORMATS, startFormatsClient } from '../clients/formats-client.ts';
import { PROVIDERS, type ProviderName } from '../helpers/provider-answers.ts';
import { costOf, nanoCost, type Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';
import { sideBySide } from '../helpers/side-by-side.ts';

const ROUNDS = 6;

const WEATHER = {
  name: 'get_weather',
  description: 'The weather at a place.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
/** The path of each format. */
const PATHS: { readonly [provider in ProviderName]: string } = {
  chat: '/v1',
  messages: '/v1',
  gemini: '/v1beta',
  responses: '/v1',
};

const scene = useScene({}, { checksEachTest: false });
const libraries = useClient(startFormatsClient);
const mocks = useClient(() => startAimocks(CHAT_FIXTURES));

function stageAt(provider: ProviderName, mock: Aimock): Promise<Stage> {
  const { type, upstreamModel } = PROVIDERS[provider];
  return scene.stage({ type, upstreamModel, baseUrls: [mock.url + PATHS[provider]] });
}

function talk(stage: Stage, request: Partial<Conversation> & Pick<Conversation, 'client'>): Promise<ConversationView> {
  const { key } = stage.caller;
  return libraries.run({ url: scene.gateway.url, apiKey: key, model: stage.model, stream: true, ...request });
}

for (const provider of FORMATS) {
  describe(`aimock as ${provider}`, () => {
    test(
      'without faults: text and a tool, non-streaming and streaming',
      () =>
        sideBySide(
          CLIENTS,
          (client) => client,
          async (client) => {
            const stage = await stageAt(provider, mocks.calm);
            for (const stream of [false, true]) {
              const view = await talk(stage, { client, stream, prompt: 'Say hello.' });
              expect(view.error).toBeUndefined();
              expect(view.turns).toMatchObject([{ text: CHAT_TEXT }]);
              // It gives another finish reason for a tool call, which the AI SDK follows.
              if (client === 'ai-gemini' && provider === 'gemini') continue;
              const called = await talk(stage, { client, stream, tools: [WEATHER], prompt: 'What is the weather?' });
              expect(called.error).toBeUndefined();
              expect(called.turns).toMatchObject([
                { calls: [{ args: { city: 'Oslo' } }] },
                { text: 'It is sunny in Oslo.' },
              ]);
            }
            for (const call of await stage.settled()) {
              expect(call.outcome).toBe('ok');
              expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
            }
          },
        ),
      60_000,
    );

    test('with faults: every call succeeds or fails with an error, and only delivered output is charged', async () => {
      let failed = 0;
      const rounds = CLIENTS.flatMap((client) => Array.from({ length: ROUNDS }, (_, round) => ({ client, round })));
      await sideBySide(
        rounds,
        ({ client, round }) => `${client}, ${round}`,
        async ({ client, round }) => {
          // A separate target for each call: repeated failures would start a cooldown.
          const stage = await stageAt(provider, mocks.wild);
          const { error, turns } = await talk(stage, { client, stream: round % 2 === 0, prompt: 'Say hello.' });
          if (error) failed++;
          else expect(turns).toMatchObject([{ text: CHAT_TEXT }]);
          const call = await stage.settledCall();
          expect(call.outcome === 'ok').toBe(error === undefined);
          // It reports no tokens in these formats, or those that are charged.
          expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
        },
      );
      expect(failed).toBeLessThan(rounds.length);
      await scene.assertClean();
    }, 60_000);
  });
}
