/** Every official library with every provider, non-streaming and streaming, through one list of scenarios, all billed. */
import { describe, expect, test } from 'bun:test';
import {
  CLIENTS,
  type Client,
  type Conversation,
  type ConversationView,
  FORMATS,
  startFormatsClient,
} from '../clients/formats-client.ts';
import { FORMAT_OF, type Scenario } from '../e2e/scenario.ts';
import { SCENARIOS } from '../e2e/scenarios.ts';
import { PROVIDERS, type ProviderName } from '../helpers/provider-answers.ts';
import { readSent } from '../helpers/provider-requests.ts';
import { costOf, nanoCost, type Stage, type StageSetup } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';
import { sideBySide } from '../helpers/side-by-side.ts';

const USED = { input: 11, cachedInput: 0, output: 7, reasoning: 0 };

const scene = useScene();
const libraries = useClient(startFormatsClient);

interface Run {
  client: Client;
  provider: ProviderName;
  stream: boolean;
}
const nameOf = ({ client, provider, stream }: Run) => `${client} before ${provider}, ${stream ? 'streamed' : 'whole'}`;

function runsOf(client: Client, providers: readonly ProviderName[] = FORMATS): Run[] {
  return providers.flatMap((provider) => [false, true].map((stream) => ({ client, provider, stream })));
}

type TestRequest = Partial<Conversation> & Pick<Conversation, 'client' | 'stream'>;

function talk(stage: Stage, request: TestRequest): Promise<ConversationView> {
  return libraries.run({ url: scene.gateway.url, apiKey: stage.caller.key, model: stage.model, ...request });
}

function newStage(provider: ProviderName, more: StageSetup = {}): Promise<Stage> {
  const { type, upstreamModel } = PROVIDERS[provider];
  // Space for reasoning, which needs at least 1,024 tokens.
  return scene.stage({ type, upstreamModel, maxOutputTokens: 8192, ...more });
}

/** One for each combination; its scenarios run one after another. */
const stages = new Map<string, Promise<Stage>>();
function stageOf(run: Run): Promise<Stage> {
  const stage = stages.get(nameOf(run)) ?? newStage(run.provider);
  stages.set(nameOf(run), stage);
  return stage;
}

async function play(scenario: Scenario, run: Run): Promise<void> {
  const { client, provider, stream } = run;
  const stage = await stageOf(run);
  const before = stage.journal().length;
  stage.script(...scenario.outputs.map((output) => PROVIDERS[provider][stream ? 'stream' : 'whole'](output)));
  const view = await talk(stage, { client, stream, ...scenario.ask });
  expect(view.error).toBeUndefined();
  expect(view.turns).toHaveLength(scenario.outputs.length);
  const sent = stage
    .journal()
    .slice(before)
    .map(({ body }) => readSent(provider, body));
  expect(sent).toHaveLength(scenario.outputs.length);
  expect(view.attempts).toBe(scenario.outputs.length);
  scenario.check({ client, format: FORMAT_OF[client], provider, view, sent });

  const settled = await stage.settled();
  expect(settled).toHaveLength(before + scenario.outputs.length);
  const calls = settled.slice(before);
  for (const [turn, { tokens = USED }] of scenario.outputs.entries()) {
    const { input, output } = tokens;
    expect(view.turns[turn]).toMatchObject({ usage: { input, output }, model: stage.model });
    const call = calls[turn];
    expect(call).toMatchObject({
      outcome: 'ok',
      status: 200,
      attempts: 1,
      usage: { input, output, source: 'reported' },
    });
    expect(call && nanoCost(call)).toBe(costOf(tokens));
  }
}

for (const scenario of SCENARIOS) {
  describe(scenario.name, () => {
    for (const client of CLIENTS) {
      if (scenario.cannot?.[client] !== undefined) continue;
      test(
        `${client} with every provider, non-streaming and streaming`,
        () => sideBySide(runsOf(client, scenario.providers), nameOf, (run) => play(scenario, run)),
        60_000,
      );
    }
  });
}
