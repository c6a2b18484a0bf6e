/**
 * Command-line agents perform a task through the gateway with a model of another provider's format: a file is written, and every call is
 * billed.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentName, canIsolate, installAgents, runAgent } from '../agents/isolated-agent.ts';
import { DONE, startTaskModel } from '../agents/task-model.ts';
import { PROVIDERS, type ProviderName, SIGNATURE } from '../helpers/provider-answers.ts';
import type { Sent } from '../helpers/provider-requests.ts';
import { costOf, nanoCost, type Scene, startScene } from '../helpers/scene.ts';

const TEXT = 'Grüße aus 日本\n';
const TASK = 'Write a file hello.txt with a greeting, then say that it is done.';

/** The tools that write a file, by their names in each agent, and their arguments. */
const WRITERS: { readonly [tool: string]: (file: string) => object } = {
  Write: (file) => ({ file_path: file, content: TEXT }),
  write_file: (file) => ({ file_path: file, content: TEXT }),
  exec_command: (file) => ({ cmd: `printf '${TEXT}' > ${file}` }),
  // A program in a custom tool of a tool group.
  functions__exec: (file) => ({
    input: `text(JSON.stringify(await tools.exec_command({cmd: "printf '${TEXT.replace('\n', '\\\\n')}' > ${file}"})))`,
  }),
};

let scene: Scene;
beforeAll(async () => {
  if (canIsolate) [scene] = await Promise.all([startScene(), installAgents()]);
}, 300_000);
afterEach(async () => {
  if (canIsolate) await scene.assertClean();
});
afterAll(async () => {
  if (canIsolate) await scene.close();
}, 60_000);

interface Way {
  /** The public name of its model. */
  publicName?: string;
  triesWebSockets?: true;
}

async function runAgentJob(agent: AgentName, provider: ProviderName, way: Way): Promise<Sent[]> {
  const { publicName, triesWebSockets } = way;
  const folder = mkdtempSync(join(tmpdir(), 'modelport-agent-'));
  const file = join(folder, 'hello.txt');
  const model = startTaskModel(provider, ({ tools }) => {
    const tool = tools.find(({ name }) => WRITERS[name]);
    return tool && { name: tool.name, args: WRITERS[tool.name]?.(file) ?? {} };
  });
  try {
    const { type, upstreamModel } = PROVIDERS[provider];
    const setup = { type, upstreamModel, baseUrls: [`${model.url}/v1`] };
    const stage = await scene.stage(publicName === undefined ? setup : { ...setup, model: publicName });
    const gatewayPort = Number(new URL(scene.gateway.url).port);
    const job = {
      agent,
      gatewayPort,
      apiKey: stage.caller.key,
      model: stage.model,
      task: TASK,
      ...(triesWebSockets && { triesWebSockets }),
    };
    const { code, output, webSockets } = await runAgent(job, folder);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining(DONE) });
    expect(readFileSync(file, 'utf8')).toBe(TEXT);
    // The first 426 makes it use HTTP from then on.
    expect(webSockets).toBe(triesWebSockets ? 1 : 0);
    const calls = await stage.settled();
    expect(calls.length).toBe(model.sent.length);
    for (const call of calls) {
      expect(call).toMatchObject({ outcome: 'ok', usage: { source: 'reported' } });
      expect(nanoCost(call)).toBe(costOf({ input: 11, output: 7 }));
    }
    return model.sent.map(({ sent }) => sent);
  } finally {
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const partsOf = (sent: Sent | undefined) => (sent?.turns ?? []).flatMap(({ parts }) => parts);

/** The last request has the call with its result, and the signature of its reasoning, whether or not the agent sent it back. */
function assertGoesOn(sent: Sent | undefined, provider: ProviderName): void {
  const parts = partsOf(sent);
  const call = parts.find(({ type }) => type === 'call');
  const result = parts.find(({ type }) => type === 'result');
  expect(result).toMatchObject({ id: call && 'id' in call ? call.id : undefined });
  if (provider !== 'chat') expect(parts).toContainEqual(expect.objectContaining({ signature: SIGNATURE }));
}

describe.skipIf(!canIsolate)('the task of', () => {
  const ways: [string, AgentName, ProviderName, Way?][] = [
    ['Claude Code on an OpenAI-format model', 'claude', 'chat'],
    ['Claude Code on a Gemini model', 'claude', 'gemini'],
    ['Claude Code on a Responses model', 'claude', 'responses'],
    ['Codex on a Claude model', 'codex', 'messages'],
    ['Codex on a Gemini model', 'codex', 'gemini'],
    [
      'Codex, with its own model’s tools in groups, on a Claude model',
      'codex',
      'messages',
      { publicName: 'gpt-6-sol' },
    ],
    [
      'Codex, with its own model’s tools in groups, on an OpenAI-format model',
      'codex',
      'chat',
      { publicName: 'gpt-6-luna' },
    ],
    ['Codex, which asks for a WebSocket first, on a Claude model', 'codex', 'messages', { triesWebSockets: true }],
    ['Gemini CLI on a Claude model', 'gemini', 'messages'],
  ];
  for (const [name, agent, provider, way = {}] of ways) {
    test(name, async () => {
      const sent = await runAgentJob(agent, provider, way);
      assertGoesOn(sent.at(-1), provider);
    }, 90_000);
  }
});
