/**
 * The 16 faults of failoverbench, a public list for gateways, with two targets and with one, with the model setting that each needs and with
 * the defaults. `pass`: the client gets the complete answer; for a content filter, the provider's refusal. `safe`: it gets a clear error,
 * nothing partial that looks complete, and is charged for what it got.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { chatRequest, errorAnswer, streamAnswer, USED } from '../helpers/chat-answers.ts';
import { costOf, nanoCost, type Scene, type Stage, startScene } from '../helpers/scene.ts';
import type { Answer } from '../upstream/answer.ts';
import { assertBroken, assertPartial, assertPublic, type ErrorBody } from './calls.ts';

let scene: Scene;
beforeAll(async () => {
  const environment = {
    MODELPORT_HEADERS_TIMEOUT_MS: '2500',
    MODELPORT_FIRST_TOKEN_TIMEOUT_MS: '4500',
    MODELPORT_SILENCE_TIMEOUT_MS: '2500',
    MODELPORT_WHOLE_TIMEOUT_MS: '20000',
  };
  scene = await startScene({ environment });
}, 60_000);
afterEach(() => scene.assertClean());
afterAll(() => scene.close(), 30_000);

type Verdict = 'pass' | 'safe';

interface FaultCase {
  readonly name: string;
  /** What the first target answers, in order; the last one again and again. */
  readonly answers: readonly Answer[];
  readonly two: Verdict;
  readonly one: Verdict;
  /** What the model needs for these verdicts beside `retries: 2`. */
  readonly setting?: { readonly [member: string]: unknown };
  /** The most requests that the first target may get. */
  readonly most: number;
}

const WORDS = Array.from({ length: 12 }, (_, at) => `word${at} `);
const GOOD = streamAnswer(WORDS);
const BUFFER = { continuation: 'buffer' };
/** Of the words six come. */
const breaks = (does: 'cut' | 'silence') => streamAnswer(WORDS, { fault: { before: 7, does } });
const refusal = (code: string, message: string): Answer => ({
  status: 400,
  json: { error: { message, type: 'invalid_request_error', param: null, code } },
});
const { events: EVENTS = [] } = GOOD;
const MALFORMED: Answer = { events: [...EVENTS.slice(0, 10), 'data: {"id": "a", "choi\n\n', ...EVENTS.slice(10)] };

const FAULTS: readonly FaultCase[] = [
  {
    name: '429 with Retry-After, once',
    answers: [errorAnswer(429, 'Slow down.', { headers: { 'retry-after': '1' } }), GOOD],
    two: 'pass',
    one: 'pass',
    most: 2,
  },
  {
    name: '429 without Retry-After, always',
    answers: [errorAnswer(429, 'Slow down.')],
    two: 'pass',
    one: 'safe',
    most: 4,
  },
  { name: '500 once', answers: [errorAnswer(500, 'Oops.'), GOOD], two: 'pass', one: 'pass', most: 2 },
  { name: '503 always', answers: [errorAnswer(503, 'Overloaded.')], two: 'pass', one: 'safe', most: 4 },
  {
    name: 'a reset before the headers, once',
    answers: [{ ...GOOD, fault: { before: 'headers', does: 'reset' } }, GOOD],
    two: 'pass',
    one: 'pass',
    most: 2,
  },
  {
    name: 'no response at all',
    answers: [{ ...GOOD, fault: { before: 'headers', does: 'silence' } }],
    two: 'pass',
    one: 'safe',
    most: 1,
  },
  {
    name: 'a first token that comes too late',
    answers: [{ ...GOOD, fault: { before: 0, does: 3000 } }],
    two: 'pass',
    one: 'pass',
    setting: { firstTokenMs: 1500 },
    most: 1,
  },
  {
    name: 'a first token that never comes',
    answers: [{ ...GOOD, fault: { before: 0, does: 'silence' } }],
    two: 'pass',
    one: 'safe',
    most: 1,
  },
  { name: 'a stream that is cut', answers: [breaks('cut')], two: 'pass', one: 'safe', setting: BUFFER, most: 4 },
  { name: 'a stream that stalls', answers: [breaks('silence')], two: 'pass', one: 'safe', setting: BUFFER, most: 4 },
  { name: 'a malformed event in a good stream', answers: [MALFORMED], two: 'pass', one: 'pass', most: 1 },
  {
    name: 'a stream without [DONE]',
    answers: [{ ...GOOD, withoutTerminator: true }],
    two: 'pass',
    one: 'pass',
    most: 1,
  },
  {
    name: 'a cut stream, and a target that refuses to continue it',
    answers: [breaks('cut')],
    two: 'pass',
    one: 'safe',
    setting: BUFFER,
    most: 4,
  },
];

test.each(FAULTS)('$name', async ({ answers, two, one, setting, most }) => {
  const retried = { retries: 2, ...setting };
  await Promise.all([
    judge(answers, 2, most, [two], retried),
    judge(answers, 1, most, [one], retried),
    // Without the setting, nothing is worse than `safe`.
    judge(answers, 2, most, setting === BUFFER ? ['safe'] : ['safe', 'pass']),
    judge(answers, 1, most, setting === BUFFER ? ['safe'] : ['safe', 'pass']),
  ]);
});

async function judge(
  answers: readonly Answer[],
  targets: number,
  most: number,
  expected: readonly Verdict[],
  members?: FaultCase['setting'],
): Promise<void> {
  const stage = await scene.stage({ targets, ...(members && { members }) });
  scriptFirst(stage, answers);
  if (targets > 1) stage.scriptTarget(1, { ...GOOD, repeat: true });
  const verdict = await verdictOf(stage);
  expect(expected, `with ${targets} targets and ${JSON.stringify(members)}`).toContain(verdict);
  const requests = stage.journal().filter(({ path }) => path.includes('/t0/'));
  expect(requests.length).toBeWithin(1, most + 1);
  // No other target continues the text.
  for (const { body } of stage.journal()) expect(body?.messages).toEqual(chatRequest('').messages);
}

describe('a context that is too long', () => {
  const TOO_LONG = refusal('context_length_exceeded', "This model's maximum context length is 8192 tokens.");

  test('with a larger fallback model', async () => {
    const larger = await scene.stage({ contextTokens: 1_000_000 });
    larger.script({ ...GOOD, repeat: true });
    const fallbacks = [{ model: larger.model, on: ['context_length'] }];
    const stage = await scene.stage({ contextTokens: 8192, members: { fallbacks } });
    stage.script({ ...TOO_LONG, repeat: true });
    expect(await verdictOf(stage)).toBe('pass');
    expect([stage.journal().length, larger.journal().length]).toEqual([1, 1]);
  });

  test.each([1, 2])('with %i targets and the defaults', async (targets) => {
    await expectRefused(targets, TOO_LONG, 'context_length_exceeded');
  });
});

test.each([1, 2])(
  'a content filter, with %i targets: the refusal is returned and no other target is called',
  async (targets) => {
    const filtered = refusal('content_policy_violation', 'Your request was rejected by our safety system.');
    await expectRefused(targets, filtered, 'content_policy_violation');
  },
);

async function expectRefused(targets: number, answer: Answer, code: string): Promise<void> {
  const stage = await scene.stage({ targets });
  stage.script({ ...answer, repeat: true });
  const response = await ask(stage);
  const { error } = (await response.json()) as ErrorBody;
  expect([response.status, error?.code]).toEqual([400, code]);
  expect(stage.journal()).toHaveLength(1);
  expect(await stage.settledCall()).toMatchObject({ cost: '0', outcome: 'refused' });
}

test('a target that is down for a while: it is used again once it can be, and until then every call is answered', async () => {
  const down = Array.from({ length: 5 }, () => errorAnswer(503, 'Overloaded.'));
  const [two, one] = [await scene.stage({ targets: 2 }), await scene.stage()];
  for (const stage of [two, one]) scriptFirst(stage, [...down, streamAnswer(['first'])]);
  two.scriptTarget(1, { ...streamAnswer(['second']), repeat: true });
  await Promise.all([
    untilFirst(two, (status) => expect(status).toBe(200)),
    untilFirst(one, (status, text) => {
      expect([200, 502, 503]).toContain(status);
      if (status !== 200) assertClear(text);
    }),
  ]);
}, 60_000);

/** Calls until the first target has answered one; `check` sees every answer. */
async function untilFirst(stage: Stage, check: (status: number, text: string) => void): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (let text = ''; !text.includes('first'); ) {
    expect(performance.now()).toBeLessThan(deadline);
    const response = await ask(stage);
    text = await response.text();
    check(response.status, text);
    await Bun.sleep(50);
  }
  for (const call of await stage.settled()) expect(nanoCost(call)).toBe(call.outcome === 'ok' ? costOf(USED) : 0n);
}

test('a fallback is billed once: the reply and the record name the model that answered, and only it is charged', async () => {
  const other = await scene.stage();
  other.script({ ...GOOD, repeat: true });
  const stage = await scene.stage({ members: { fallbacks: [{ model: other.model, on: ['unavailable'] }] } });
  stage.script({ ...errorAnswer(503, 'Overloaded.'), repeat: true });
  const text = await (await ask(stage)).text();
  expect(text).toContain(`"model":"${other.model}"`);
  expect(text).not.toContain(`"model":"${stage.model}"`);
  expect(text).toContain('"usage":{"prompt_tokens":');
  const call = await stage.settledCall();
  expect(call).toMatchObject({ model: other.model, outcome: 'ok' });
  expect(nanoCost(call)).toBe(costOf(USED));
});

function scriptFirst(stage: Stage, answers: readonly Answer[]): void {
  stage.script(...answers.map((answer, at) => (at === answers.length - 1 ? { ...answer, repeat: true } : answer)));
}

function ask(stage: Stage): Promise<Response> {
  const request = chatRequest(stage.model, { stream: true, stream_options: { include_usage: true } });
  return stage.post('/v1/chat/completions', request);
}

/** One call of the stage, its charge included. Throws where it is worse than `safe`. */
async function verdictOf(stage: Stage): Promise<Verdict> {
  const response = await ask(stage);
  const text = await response.text();
  if (response.status !== 200) {
    assertClear(text);
    const { cost, outcome } = await stage.settledCall();
    expect([cost, outcome]).toEqual(['0', response.status < 500 ? 'refused' : 'failed']);
    return 'safe';
  }
  if (!text.endsWith('data: [DONE]\n\n')) {
    const call = await stage.settledCall();
    assertBroken(text, call.errorCode ?? '');
    await assertPartial(stage, call.errorCode ?? '');
    return 'safe';
  }
  expect(wordsIn(text)).toBe(WORDS.join(''));
  const call = await stage.settledCall();
  expect(call.outcome).toBe('ok');
  expect(nanoCost(call)).toBe(costOf(USED));
  return 'pass';
}

function assertClear(text: string): void {
  const { error } = JSON.parse(text) as ErrorBody;
  expect(error?.message).toMatch(/^[A-Z].*\.$/);
  expect(error?.code).toBeString();
  assertPublic(text);
}

function wordsIn(text: string): string {
  const datas = text.split('\n\n').filter((event) => event.startsWith('data: {'));
  const chunks = datas.map((data) => JSON.parse(data.slice(6)) as { choices: { delta: { content?: string } }[] });
  return chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('');
}
