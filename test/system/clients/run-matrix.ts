/** Runs the cases of a client matrix: every library in each of its formats, with providers of other formats and the sandbox. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ClientChild } from '../../clients/child.ts';
import { errorClass } from '../../clients/error-classes.ts';
import {
  casesOf,
  FAILURES,
  type MatrixCall,
  type MatrixCase,
  type MatrixClient,
  type MatrixFormat,
  type MatrixView,
} from '../../clients/matrix-client.ts';
import type { ModelOutput } from '../../helpers/model-output.ts';
import { PROVIDERS, type ProviderName } from '../../helpers/provider-answers.ts';
import { type Scene, type Stage, startScene } from '../../helpers/scene.ts';
import type { Answer } from '../../upstream/answer.ts';

const INSTALL_MS = 320_000;
const SUITE_MS = 240_000;

/** The gateway and upstreams for the cases. */
interface Ground {
  scene: Scene;
  client: ClientChild<MatrixCall, MatrixView>;
  stages: { [upstream: string]: Stage };
}

function stageFor(scene: Scene, upstream: MatrixCase['upstream']): Promise<Stage> {
  if (upstream === 'sandbox') return scene.stage();
  const { type, upstreamModel } = PROVIDERS[upstream];
  return scene.stage({ type, upstreamModel });
}

const ARGS = { city: 'Oslo' };
const OUTPUTS: { readonly [task in MatrixCase['task']]: readonly ModelOutput[] } = {
  text: [{ texts: ['Hello ', 'world.'] }],
  tools: [{ calls: [{ id: 'call_1', name: 'get_weather', args: ARGS }] }, { texts: ['It is ', 'sunny.'] }],
  schema: [{ texts: ['{"city":', '"Oslo"}'] }],
};
const PROMPTS: { readonly [task in MatrixCase['task']]: string } = {
  text: 'Say hello.',
  tools: 'What is the weather in the city? Use get_weather.',
  schema: 'Which city?',
};
/** Sent with every request as the library's own kind of system prompt. */
const SYSTEM = 'Answer in one line.';
const DIRECTIVES: { readonly [failure in NonNullable<MatrixCase['failure']>]: string } = {
  'a wrong key': '',
  'an unknown model': '',
  'a request the provider refuses': '[[fail 400]]',
  'a rate limit': '[[fail 429]]',
  'a provider that fails': '[[fail 500]]',
  'a stream that breaks off': '[[long 50]] [[cut]]',
};

/** The provider's answers, and the number of requests. */
function answersOf({ byTool }: MatrixClient, format: MatrixFormat, each: MatrixCase): Answer[] {
  const { upstream, stream, task, failure } = each;
  if (upstream === 'sandbox') return [];
  const provider = PROVIDERS[upstream];
  switch (failure) {
    case undefined:
      if (task === 'schema' && byTool?.formats.includes(format)) {
        return [provider.whole({ calls: [{ id: 'call_1', name: byTool.name, args: ARGS }] })];
      }
      return OUTPUTS[task].map((output) => (stream ? provider.stream(output) : provider.whole(output)));
    case 'a request the provider refuses':
      return [provider.error(400, 'The image is too large.')];
    case 'a rate limit':
      return [provider.error(429, 'Slow down.')];
    case 'a provider that fails':
      return [provider.error(503, 'Overloaded.')];
    case 'a stream that breaks off': {
      const answer = provider.stream({ texts: ['one ', 'two ', 'three ', 'four'] });
      const events = answer.events?.length ?? 0;
      return [{ ...answer, fault: { before: events - (upstream === 'gemini' ? 1 : 3), does: 'cut' } }];
    }
    default:
      return [];
  }
}

const nameOf = ({ upstream, stream, task, failure }: MatrixCase) =>
  `${upstream}, ${stream ? 'streamed' : 'whole'}: ${failure ?? task}`;

async function check(
  { scene, client }: Ground,
  row: MatrixClient,
  format: MatrixFormat,
  stage: Stage,
  each: MatrixCase,
): Promise<void> {
  const { upstream, stream, task, failure } = each;
  stage.script(...answersOf(row, format, each));
  const view = await client.run({
    library: row.library,
    format,
    stream,
    url: scene.gateway.url,
    apiKey: failure === 'a wrong key' ? 'sk-wrong' : stage.caller.key,
    model: failure === 'an unknown model' ? 'no-such-model' : upstream === 'sandbox' ? 'sandbox-chat' : stage.model,
    system: SYSTEM,
    // The sandbox's own pace is that of a model: the rows would wait for it most of the time.
    prompt:
      upstream === 'sandbox' ? `${PROMPTS[task]} [[pace 1]] ${failure ? DIRECTIVES[failure] : ''}` : PROMPTS[task],
    tools: task === 'tools',
    schema: task === 'schema',
  });
  if (failure) expectFailure(row, format, failure, view);
  else expectReply(each, view);
}

function expectReply({ upstream, task }: MatrixCase, { reply, error }: MatrixView): void {
  expect(error).toBeUndefined();
  const isSandbox = upstream === 'sandbox';
  const calls = reply?.calls.map(([name, args]) => (isSandbox ? name : [name, args]));
  expect(calls).toEqual(task !== 'tools' ? [] : isSandbox ? ['get_weather'] : [['get_weather', ARGS]]);
  if (task === 'schema') {
    const answer = JSON.parse(reply?.text ?? '');
    expect(answer).toEqual(isSandbox ? { city: expect.any(String) } : ARGS);
  } else if (isSandbox) expect(reply?.text).toContain(task === 'tools' ? 'sunny' : SYSTEM);
  else expect(reply?.text).toBe((OUTPUTS[task].at(-1)?.texts ?? []).join(''));
}

function expectFailure(
  { library }: MatrixClient,
  format: MatrixFormat,
  failure: NonNullable<MatrixCase['failure']>,
  { error }: MatrixView,
): void {
  // Some versions of the AI SDK throw a stream's error as the received object.
  expect(error).toBeDefined();
  // Mistral's library only reports that the error of a stream is not a chunk.
  if (failure === 'a stream that breaks off') return;
  expect(error?.message).not.toMatch(/undefined|\[object/);
  const status = FAILURES[failure];
  expect([failure, error?.status, error?.class]).toEqual([failure, status, errorClass(library, format, status)]);
}

/** Cases of one upstream run one after another, because it answers in order. */
async function checkAll(environment: Ground, row: MatrixClient, format: MatrixFormat): Promise<void> {
  const { scene, stages } = environment;
  const upstreams = Map.groupBy(casesOf(row, format), ({ upstream }) => upstream);
  const failures: string[] = [];
  await Promise.all(
    [...upstreams].map(async ([upstream, cases]) => {
      for (const each of cases) {
        const stage = stages[upstream]!;
        const before = stage.journal().length;
        try {
          await check(environment, row, format, stage, each);
          for (const { body } of stage.journal().slice(before)) expect(JSON.stringify(body)).toContain(SYSTEM);
          // One request per answer: no retries, and no answer left for the next case.
          expect(stage.journal().length - before).toBe(answersOf(row, format, each).length);
        } catch (thrown) {
          failures.push(`${nameOf(each)}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
          // Unused answers must not reach the next case.
          stages[upstream] = await stageFor(scene, upstream);
        }
      }
    }),
  );
  expect(failures).toEqual([]);
}

/** `start` is awaited when the suite runs. */
export function matrixSuite(
  title: string,
  matrix: readonly MatrixClient[],
  start: (() => ClientChild<MatrixCall, MatrixView> | Promise<ClientChild<MatrixCall, MatrixView>>) | undefined,
): void {
  describe.skipIf(start === undefined)(title, () => {
    let environment: Ground;
    beforeAll(async () => {
      const starting = startScene({ environment: { MODELPORT_SANDBOX: 'on', MODELPORT_LOG_LEVEL: 'error' } });
      const [scene, client] = await Promise.all([starting, start?.()]);
      if (!client) return;
      const upstreams = [...(Object.keys(PROVIDERS) as ProviderName[]), 'sandbox'] as const;
      const made = upstreams.map(async (name) => [name, await stageFor(scene, name)]);
      environment = { scene, client, stages: Object.fromEntries(await Promise.all(made)) };
    }, INSTALL_MS);
    afterAll(async () => {
      environment?.client.stop();
      await environment?.scene.close();
    }, 30_000);

    const rows = matrix.flatMap((row) => row.formats.map((format) => [row.library, format, row] as const));
    test.each(rows)('%s over %s', (_library, format, row) => checkAll(environment, row, format), SUITE_MS);
  });
}
