/** What requests and models say of the order of targets, from outside. */
import { describe, expect, test } from 'bun:test';
import { chatRequest, wholeAnswer } from '../helpers/chat-answers.ts';
import { PRICE, type Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import type { Answer } from '../upstream/answer.ts';

const scene = useScene();

const EXPENSIVE = { input: 0.9, output: 3 };
const CHEAP = { input: 0.1, output: 0.2 };

/** Longer than the other target takes on the slowest machine. */
const SLOW_MS = 1500;

/** Two targets, of which the second costs the operator less. `answers`: how they deviate from an answer at once. */
async function priced(priorities: readonly number[], members: object = {}, answers: readonly Answer[] = []) {
  const stage = await scene.stage({ targets: 2 });
  await configure(stage, priorities, members);
  for (const target of [0, 1]) {
    stage.scriptTarget(target, wholeAnswer(`t${target}`, { repeat: true, ...answers[target] }));
  }
  return stage;
}

async function configure(stage: Stage, priorities: readonly number[], members: object): Promise<void> {
  const targets = priorities.map((priority, target) => ({
    provider: providerOf(stage, target),
    model: 'upstream-model',
    priority,
    cost: [EXPENSIVE, CHEAP][target],
  }));
  const row = { name: stage.model, price: PRICE, maxOutputTokens: 1000, retries: 0, affinity: 'off', targets };
  await scene.gateway.admin('POST', '/models', { ...row, ...members });
}

/** The target that answers this request. */
async function answeredBy(stage: Stage, more: object = {}, path = '/v1/chat/completions'): Promise<string> {
  const response = await stage.post(path, { ...chatRequest(stage.model), ...more });
  const { choices } = (await response.json()) as { choices?: { message: { content: string } }[] };
  return choices?.[0]?.message.content ?? `status ${response.status}`;
}

describe('the order of targets', () => {
  test('is the operator’s, unless the request sorts them by price', async () => {
    const stage = await priced([0, 1]);
    expect(await answeredBy(stage)).toBe('t0');
    expect(await answeredBy(stage, { provider: { sort: 'price' } })).toBe('t1');
    expect(await answeredBy(stage, { provider: { sort: { by: 'price' } } })).toBe('t1');
    expect(await answeredBy(stage, { model: `${stage.model}:floor` })).toBe('t1');
    expect(await answeredBy(stage)).toBe('t0');
    for (const { body } of stage.journal()) {
      expect(body).not.toHaveProperty('provider');
      expect(body?.model).toBe('upstream-model');
    }
    expect((await stage.settled()).map(({ outcome }) => outcome)).toEqual(Array(5).fill('ok'));
  });

  test('by the model’s strategy within a priority; a wrong word in a request is a 400', async () => {
    const stage = await priced([0, 0], { strategy: 'price' });
    for (let i = 0; i < 5; i++) expect(await answeredBy(stage)).toBe('t1');
    expect(await answeredBy(stage, { provider: { sort: 'beauty' } })).toBe('status 400');
    expect(await answeredBy(stage, { provider: { order: [providerOf(stage, 0)] } })).toBe('t0');
  });

  test('by the measured time, with `sort: latency` and with the strategy', async () => {
    const stage = await priced([0, 0], {}, [{ fault: { before: 'headers', does: SLOW_MS } }]);
    // Each is measured once.
    for (const target of [0, 1]) await answeredBy(stage, { provider: { order: [providerOf(stage, target)] } });
    for (let i = 0; i < 5; i++) expect(await answeredBy(stage, { provider: { sort: 'latency' } })).toBe('t1');
    await configure(stage, [0, 0], { strategy: 'latency' });
    for (let i = 0; i < 5; i++) expect(await answeredBy(stage)).toBe('t1');
  });
});

/** Targets are named by their provider. */
function providerOf({ model }: Stage, target: number): string {
  return `${model.replace('model-', 'p-')}-${target}`;
}
