/** Every official library over aimock in each format it speaks: calm, and dropping, garbling, disconnecting and limiting at random. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Aimock, startAimock } from '../clients/aimock.ts';
import {
  CLIENTS,
  type Conversation,
  type ConversationView,
  FORMATS,
  type FormatsClient,
  startFormatsClient,
} from '../clients/formats-client.ts';
import { costOf, nanoCost, type Scene, type Stage, startScene } from '../scene.ts';
import { sideBySide } from '../side-by-side.ts';
import { VENDORS, type VendorName } from '../vendor-answers.ts';

const CHAOS = 0.12;
const ROUNDS = 6;
const TEXT = 'Hello from aimock, with some words to stream.';

const FIXTURES = [
  {
    match: { userMessage: 'weather', hasToolResult: false },
    response: { toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } }] },
  },
  { match: { userMessage: 'weather', hasToolResult: true }, response: { content: 'It is sunny in Oslo.' } },
  { match: {}, response: { content: TEXT } },
];
const WEATHER = {
  name: 'get_weather',
  description: 'The weather at a place.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
/** Where it serves each format. */
const PATHS: { readonly [vendor in VendorName]: string } = {
  chat: '/v1',
  messages: '/v1',
  gemini: '/v1beta',
  responses: '/v1',
};

let scene: Scene;
let libraries: FormatsClient;
let calm: Aimock;
let wild: Aimock;
beforeAll(async () => {
  [scene, libraries, calm, wild] = await Promise.all([
    startScene(),
    startFormatsClient(),
    startAimock(FIXTURES, 0),
    startAimock(FIXTURES, CHAOS),
  ]);
}, 300_000);
afterAll(async () => {
  libraries.stop();
  await Promise.all([calm.stop(), wild.stop()]);
  await scene.close();
}, 60_000);

function stageAt(vendor: VendorName, mock: Aimock): Promise<Stage> {
  const { type, upstreamModel } = VENDORS[vendor];
  return scene.stage({ type, upstreamModel, baseUrls: [mock.url + PATHS[vendor]] });
}

function talk(stage: Stage, asked: Partial<Conversation> & Pick<Conversation, 'client'>): Promise<ConversationView> {
  const { key } = stage.caller;
  return libraries.run({ url: scene.gateway.url, apiKey: key, model: stage.model, stream: true, ...asked });
}

for (const vendor of FORMATS) {
  describe(`aimock as ${vendor}`, () => {
    test(
      'calm: text and a tool, whole and streamed',
      () =>
        sideBySide(
          CLIENTS,
          (client) => client,
          async (client) => {
            const stage = await stageAt(vendor, calm);
            for (const stream of [false, true]) {
              const said = await talk(stage, { client, stream, prompt: 'Say hello.' });
              expect(said.error).toBeUndefined();
              expect(said.turns).toMatchObject([{ text: TEXT }]);
              // It says of a call that something else ended its turn, which the AI SDK takes at its word.
              if (client === 'ai-gemini' && vendor === 'gemini') continue;
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

    test('wild: every call ends well or in an error, and only what was delivered is charged', async () => {
      let failed = 0;
      const rounds = CLIENTS.flatMap((client) => Array.from({ length: ROUNDS }, (_, round) => ({ client, round })));
      await sideBySide(
        rounds,
        ({ client, round }) => `${client}, ${round}`,
        async ({ client, round }) => {
          // A target of one's own for each call: failures in a row would let it rest.
          const stage = await stageAt(vendor, wild);
          const { error, turns } = await talk(stage, { client, stream: round % 2 === 0, prompt: 'Say hello.' });
          if (error) failed++;
          else expect(turns).toMatchObject([{ text: TEXT }]);
          const call = await stage.settledCall();
          expect(call.outcome === 'ok').toBe(error === undefined);
          // It reports no tokens in the younger formats: what it reports is what is charged.
          expect(nanoCost(call)).toBe(costOf(call.usage ?? { input: 0, output: 0 }));
        },
      );
      expect(failed).toBeLessThan(rounds.length);
      await scene.assertClean();
    }, 60_000);
  });
}
