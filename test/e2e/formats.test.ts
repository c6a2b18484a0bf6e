/** Every format's official library before every vendor: text, a tool loop, reasoning, refusals, failures, broken streams; all billed. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { USED } from '../chat-answers.ts';
import {
  type Conversation,
  type ConversationView,
  type FormatsClient,
  startFormatsClient,
} from '../clients/formats-client.ts';
import { costOf, nanoCost, type Scene, type Stage, startScene } from '../scene.ts';
import { type Said, SEAL, VENDORS, type Vendor } from '../vendor-answers.ts';

/** The words of each format for a turn that is over, and for one that waits for tools. */
const FINISHES = {
  chat: { over: 'stop', calls: 'tool_calls' },
  messages: { over: 'end_turn', calls: 'tool_use' },
  gemini: { over: 'STOP', calls: 'STOP' },
  responses: { over: 'completed', calls: 'completed' },
};
const FORMATS = ['chat', 'messages', 'gemini', 'responses'] as const;
/** Whether a format keeps arguments as a text within the text. */
const ESCAPES_ARGUMENTS = { chat: true, messages: false, gemini: false, responses: true };

const TEXT: Said = { texts: ['Grüße ', 'aus ', '日本'] };
const CALL = { id: 'toolu_01A', name: 'get_weather', args: { city: 'Oslo' } };
const THOUGHT = 'Let me look that up.';

let scene: Scene;
let client: FormatsClient;
beforeAll(async () => {
  [scene, client] = await Promise.all([startScene(), startFormatsClient()]);
}, 300_000);
afterEach(() => scene.assertClean());
afterAll(async () => {
  client.stop();
  await scene.close();
}, 30_000);

type Asked = Partial<Conversation> & Pick<Conversation, 'client' | 'stream'>;

function talk(stage: Stage, asked: Asked): Promise<ConversationView> {
  return client.run({ url: scene.gateway.url, apiKey: stage.caller.key, model: stage.model, ...asked });
}

const stageFor = ({ type, upstreamModel }: Vendor) => scene.stage({ type, upstreamModel });
const answerOf = (vendor: Vendor, stream: boolean, said: Said) => (stream ? vendor.stream(said) : vendor.whole(said));

async function assertCharged(stage: Stage, calls: number): Promise<void> {
  const settled = await stage.settled();
  expect(settled).toHaveLength(calls);
  for (const call of settled) {
    expect(call).toMatchObject({ outcome: 'ok', status: 200, attempts: 1, usage: { ...USED, source: 'reported' } });
    expect(nanoCost(call)).toBe(costOf(USED));
  }
}

for (const format of FORMATS) {
  for (const name of FORMATS) {
    const vendor = VENDORS[name];
    const finish = FINISHES[format];

    describe(`${format} before ${name}`, () => {
      for (const stream of [false, true]) {
        const way = stream ? 'streamed' : 'whole';

        test(`text, ${way}`, async () => {
          const stage = await stageFor(vendor);
          stage.script(answerOf(vendor, stream, TEXT));
          const { error, turns } = await talk(stage, { client: format, stream });
          expect(error).toBeUndefined();
          const wanted = { text: 'Grüße aus 日本', reasoning: '', calls: [], finish: finish.over, usage: USED };
          expect(turns).toEqual([{ ...wanted, model: stage.model }]);
          await assertCharged(stage, 1);
        });

        test(`reasoning and a tool, two turns, ${way}`, async () => {
          const stage = await stageFor(vendor);
          stage.script(
            answerOf(vendor, stream, { thought: THOUGHT, calls: [CALL] }),
            answerOf(vendor, stream, { texts: ['It is ', 'sunny.'] }),
          );
          const { error, turns } = await talk(stage, { client: format, stream, think: true, tools: true });
          expect(error).toBeUndefined();
          expect(turns).toHaveLength(2);
          expect(turns[0]).toMatchObject({ reasoning: THOUGHT, text: '', finish: finish.calls, usage: USED });
          expect(turns[0]?.calls).toMatchObject([{ name: CALL.name, args: CALL.args }]);
          expect(turns[1]).toMatchObject({ text: 'It is sunny.', calls: [], finish: finish.over });
          const [first, second] = stage.journal().map(({ body }) => JSON.stringify(body));
          expect(first).toContain('"get_weather"');
          expect(second).toContain('"sunny"');
          // Every format carries a vendor's proof through the conversation, and it comes back to its vendor.
          if (name !== 'chat') expect(second).toContain(SEAL);
          expect(second).toContain(ESCAPES_ARGUMENTS[name] ? '\\"Oslo\\"' : '"Oslo"');
          await assertCharged(stage, 2);
        });

        test(`the vendor refuses the request, fails, ${way}`, async () => {
          const stage = await stageFor(vendor);
          stage.script(vendor.error(400, 'The picture is too large.'), vendor.error(500, 'secret trouble'));
          const refused = await talk(stage, { client: format, stream });
          expect(refused.error?.status).toBe(400);
          expect(refused.error?.message).toContain('The picture is too large.');
          const failed = await talk(stage, { client: format, stream });
          expect(failed.error).toMatchObject({ status: 502 });
          expect(failed.error?.message).not.toMatch(/secret|127\.0\.0\.1/);
          for (const call of await stage.settled()) expect(call).toMatchObject({ cost: '0' });
        });
      }

      test('a stream that is cut is an error, and charged as far as it came', async () => {
        const stage = await stageFor(vendor);
        const answer = vendor.stream({ texts: ['one ', 'two ', 'three ', 'four'] });
        stage.script({ ...answer, paceMs: 5, fault: { before: (answer.events?.length ?? 0) - 2, does: 'cut' } });
        const { error } = await talk(stage, { client: format, stream: true });
        expect(error).toBeDefined();
        const call = await stage.settledCall();
        expect(call).toMatchObject({ outcome: 'broken', errorCode: 'upstream_failed' });
        expect(nanoCost(call)).toBeGreaterThan(0n);
      });
    });
  }

  describe(`${format}: refusals of our own`, () => {
    const wrong = {
      chat: { temperature: 3 },
      messages: { max_tokens: 0 },
      gemini: { temperature: 9 },
      responses: { temperature: 3 },
    }[format];

    test('are of the right status, and free', async () => {
      const stage = await stageFor(VENDORS.chat);
      const poor = await scene.stage({ amount: '0' });
      const cases: [Stage, Partial<Asked>, number, RegExp][] = [
        [stage, { apiKey: 'sk-wrong' }, 401, /key/],
        [stage, { extra: wrong }, 400, /temperature|max_tokens/],
        [stage, { model: stage.model.toUpperCase() }, 404, /does not exist/],
        [poor, {}, 402, /balance/],
      ];
      for (const [where, more, status, message] of cases) {
        for (const stream of [false, true]) {
          const { error } = await talk(where, { client: format, stream, ...more });
          expect(error?.status).toBe(status);
          expect(error?.message).toMatch(message);
          expect(error?.message).not.toContain('sk-wrong');
        }
      }
      expect(stage.journal()).toEqual([]);
      for (const call of [...(await stage.settled()), ...(await poor.settled())]) expect(call.cost).toBe('0');
    });
  });
}
