/** Tool loops with models that sign their reasoning, by clients whose formats lose the signatures: what the provider gets back. */
import { describe, expect, test } from 'bun:test';
import { type Loop, type LoopView, startLoopsClient } from '../clients/loops-client.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { PROVIDERS, type ProviderAnswers, type ProviderName, SIGNATURE } from '../helpers/provider-answers.ts';
import type { Stage } from '../helpers/scene.ts';
import { useClient, useScene } from '../helpers/scene-hooks.ts';
import { startScriptedUpstream } from '../upstream/scripted-upstream.ts';

const scene = useScene();
const client = useClient(startLoopsClient);

/** A provider's request, independent of its format. */
interface Body {
  messages?: Turn[];
  contents?: Turn[];
  input?: { [member: string]: unknown }[];
  thinking?: object;
}
interface Turn {
  role: string;
  content?: unknown;
  parts?: { [member: string]: unknown }[];
  reasoning_content?: string;
}

/** The model's turns in a request as words: `thought`, `proof`, `call`. */
function turnsIn(body: Body): string[] {
  if (body.input) return [body.input.flatMap(wordsOfItem).join(' ')];
  const turns = body.messages ?? body.contents ?? [];
  return turns
    .filter(({ role }) => role === 'assistant' || role === 'model')
    .map(({ content, parts, reasoning_content: thought, ...rest }) => {
      const blocks = parts ?? (Array.isArray(content) ? content : []);
      const words = blocks.flatMap(wordsOfBlock);
      return [...(thought ? [`thought:${thought}`] : []), ...words, ...('tool_calls' in rest ? ['call'] : [])].join(
        ' ',
      );
    });
}

function wordsOfItem(item: { [member: string]: unknown }): string[] {
  if (item.type === 'reasoning') return [item.encrypted_content === SIGNATURE ? 'proof' : 'unproved'];
  return item.type === 'function_call' ? ['call'] : [];
}

function wordsOfBlock(block: { [member: string]: unknown }): string[] {
  const { type, thinking, signature, thought, text, thoughtSignature, functionCall } = block;
  const words: string[] = [];
  if (type === 'thinking') words.push(`thought:${thinking}`);
  if (thought === true) words.push(`thought:${text}`);
  if (signature === SIGNATURE || thoughtSignature === SIGNATURE) words.push('proof');
  else if (thoughtSignature !== undefined) words.push('dummy');
  if (type === 'tool_use' || functionCall !== undefined) words.push('call');
  return words;
}

const GEMINI_3: ProviderAnswers = { ...PROVIDERS.gemini, upstreamModel: 'gemini-3-pro-preview' };
const DEEPSEEK: ProviderAnswers = { ...PROVIDERS.chat, type: 'deepseek', upstreamModel: 'deepseek-reasoner' };
const providerOf = (name: ProviderName) => (name === 'gemini' ? GEMINI_3 : PROVIDERS[name]);

/** Calls a tool twice, then answers. */
function script(stage: Stage, provider: ProviderAnswers, stream: boolean, ids: readonly string[]): void {
  const answer = stream ? provider.stream : provider.whole;
  for (const [turn, id] of ids.entries()) {
    const calls = [{ id, name: 'weather', args: { city: `Town ${turn}`, 'with blanks': [1, 2] } }];
    stage.script(answer({ thought: `Thinking ${turn}`, calls }));
  }
  stage.script(answer({ thought: 'Enough.', texts: ['Sunny.'] }));
}

const IDS = ['toolu_01Abc234Def567', 'toolu_02Abc234Def567'];

async function run(stage: Stage, loop: Pick<Loop, 'format' | 'stream'> & Partial<Loop>): Promise<LoopView> {
  const at = { url: scene.gateway.url, apiKey: stage.caller.key, model: stage.model };
  const view = await client.loop({ ...at, turns: 3, prompt: 'Weather everywhere?', ...loop });
  expect(view.error).toBeUndefined();
  return view;
}

const turnsSent = (stage: Stage, request: number) => turnsIn(stage.journal()[request]?.body as Body);

describe.each([false, true])('streaming: %p', (stream) => {
  test.each([
    ['chat', 'messages', (turn: number) => `thought:Thinking ${turn} proof call`],
    ['gemini', 'messages', (turn: number) => `thought:Thinking ${turn} proof call`],
    ['chat', 'gemini', (turn: number) => `thought:Thinking ${turn} proof call`],
  ] as const)(
    'a client of %s with a provider of %s: every signature is back in its place',
    async (format, name, turnOf) => {
      const stage = await scene.stage(providerOf(name));
      script(stage, providerOf(name), stream, IDS);
      const { turns } = await run(stage, { format, stream });
      expect(turns.map(({ calls }) => calls)).toEqual([1, 1, 0]);
      expect(turnsSent(stage, 1)).toEqual([turnOf(0)]);
      expect(turnsSent(stage, 2)).toEqual([turnOf(0), turnOf(1)]);
      await stage.settled();
    },
  );

  test('a client of chat with Responses: reasoning is before its call', async () => {
    const stage = await scene.stage(PROVIDERS.responses);
    script(stage, PROVIDERS.responses, stream, IDS);
    await run(stage, { format: 'chat', stream });
    expect(turnsSent(stage, 2)).toEqual(['proof call proof call']);
    await stage.settled();
  });

  test('a client of chat with a chat provider that needs its reasoning again', async () => {
    const stage = await scene.stage(DEEPSEEK);
    script(stage, DEEPSEEK, stream, IDS);
    await run(stage, { format: 'chat', stream });
    expect(turnsSent(stage, 2)).toEqual(['thought:Thinking 0 call', 'thought:Thinking 1 call']);
    await stage.settled();
  });
});

test('ids that the provider numbers do not mix up conversations', async () => {
  const stage = await scene.stage(PROVIDERS.messages);
  for (const thought of ['First', 'Second']) {
    const calls = [{ id: 'call_0', name: 'weather', args: { city: 'Oslo' } }];
    stage.script(PROVIDERS.messages.whole({ thought, calls }));
  }
  stage.script(PROVIDERS.messages.whole({ texts: ['Sunny.'] }), PROVIDERS.messages.whole({ texts: ['Sunny.'] }));
  const first = await run(stage, { format: 'chat', stream: false, turns: 1, prompt: 'Here?' });
  const second = await run(stage, { format: 'chat', stream: false, turns: 1, prompt: 'There?' });
  await run(stage, { format: 'chat', stream: false, turns: 1, history: first.history });
  await run(stage, { format: 'chat', stream: false, turns: 1, history: second.history });
  expect(turnsSent(stage, 2)).toEqual(['thought:First proof call']);
  expect(turnsSent(stage, 3)).toEqual(['thought:Second proof call']);
  await stage.settled();
});

test('a signature is sent only to its own provider, and without it the model still answers', async () => {
  const [owner, other] = await Promise.all([scene.stage(PROVIDERS.messages), scene.stage(GEMINI_3)]);
  script(owner, PROVIDERS.messages, false, IDS);
  const { history } = await run(owner, { format: 'chat', stream: false, turns: 1 });
  other.script(GEMINI_3.whole({ texts: ['Sunny.'] }));
  await run(other, { format: 'chat', stream: false, turns: 1, history, apiKey: owner.caller.key });
  expect(turnsSent(other, 0)).toEqual(['dummy call']);

  // Another account knows nothing of it: the provider is called without reasoning, which it would refuse.
  const stranger = await scene.gateway.newCaller();
  const { error } = await client.loop({
    url: scene.gateway.url,
    apiKey: stranger.key,
    model: owner.model,
    format: 'chat',
    stream: false,
    turns: 1,
    history,
  });
  expect(error).toBeUndefined();
  const body = owner.journal().at(-1)?.body as Body;
  expect(turnsIn(body)).toEqual(['call']);
  expect(body.thinking).toBeUndefined();
});

test('a conversation can be continued after a crash and restart', async () => {
  const upstream = await startScriptedUpstream();
  const { type, upstreamModel, whole } = PROVIDERS.messages;
  const providers = [{ name: 'p', type, baseUrl: `${upstream.url}/again/v1`, credential: 'sk-secret' }];
  const targets = [{ provider: 'p', model: upstreamModel }];
  const models = [{ name: 'm', kind: 'chat' as const, price: { input: 1, output: 4 }, maxOutputTokens: 4000, targets }];
  let gateway: GatewayProcess = await startGateway({ providers, models });
  try {
    const calls = [{ id: IDS[0] ?? '', name: 'weather', args: { city: 'Oslo' } }];
    upstream.script('/again/', whole({ thought: 'Hm.', calls }), whole({ texts: ['Sunny.'] }));
    const loop = { apiKey: gateway.apiKey, model: 'm', format: 'chat', stream: false, turns: 1 } as const;
    const { history } = await client.loop({ ...loop, url: gateway.url, prompt: 'Weather?' });
    await gateway.kill();
    gateway = await startGateway({ providers, models, dataFolder: gateway.dataFolder });
    const { error } = await client.loop({ ...loop, url: gateway.url, history });
    expect(error).toBeUndefined();
    expect(turnsIn(upstream.journal('/again/')[1]?.body as Body)).toEqual(['thought:Hm. proof call']);
  } finally {
    await gateway.stop();
    await upstream.close();
  }
}, 60_000);
