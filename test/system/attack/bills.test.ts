/** What the model of the storm allows a call to cost, where a call is ended in the middle. */
import { expect, test } from 'bun:test';
import { planAnswer } from '../../upstream/answer.ts';
import type { JournalEntry } from '../../upstream/scripted-upstream.ts';
import { allowedCosts, type Bill, type CallResult, limitFaults } from './bills.ts';
import { answerTo } from './lying-provider.ts';
import { createPlanner, type Plan } from './plan.ts';

/** One nano-USD per token of input and of output. */
const RATES = { input: 1000n, output: 1000n, image: 0n };
const BILL: Bill = { id: 'c', account: 'a', key: 'k', model: 'm', outcome: 'aborted', cost: 0n, priceId: 'p' };
const WORDS = 25;

function planOf(more: Partial<Plan>): Plan {
  const { plan } = createPlanner(1, 4, 1);
  let chat = plan();
  while (chat.images > 0) chat = plan();
  const path = '/v1/chat/completions';
  return { ...chat, path, stream: true, policy: 'abort', client: 'stays', words: WORDS, silenceMs: 0, ...more };
}

/** A call of which the provider had sent all but its last `unsent` writes. */
function costs(plan: Plan, unsent: number, seen: Partial<CallResult['seen']>, more: Partial<CallResult>): bigint[] {
  const sends = planAnswer(answerTo(plan)).steps.flatMap((step) => (step.type === 'send' ? [step.bytes.length] : []));
  const sentBytes = sends.slice(0, sends.length - unsent).reduce((sum, length) => sum + length, 0);
  const result: CallResult = {
    plan,
    key: 'k',
    sentMs: 0,
    overMs: 1000,
    seen: {
      ...{ status: 200, requestId: 'c', words: WORDS, finish: true, complete: false, left: true, sent: true, text: '' },
      ...seen,
    },
    wasKilled: false,
    journal: [{ sentBytes } as JournalEntry],
    ...more,
  };
  return [...allowedCosts(result, BILL, RATES)];
}

test('text after the end of a choice is not counted', () => {
  const plan = planOf({ provider: 'text-after-finish', client: 'after-finish' });
  const counted = BigInt(plan.estimatedInput + WORDS);
  const reported = BigInt(plan.reportedInput + WORDS);
  // The usage has come, `[DONE]` and the mark of the end of the body have not.
  expect(costs(plan, 2, {}, { stoppedMs: 500 })).toEqual([counted, reported]);
  expect(costs(plan, 2, { words: WORDS + 1, left: false }, { stoppedMs: 500 })).toEqual([counted, reported]);
  expect(costs(plan, 3, {}, { stoppedMs: 500 })).toEqual([counted]);
});

test('a call that a stop has ended before any output costs nothing, unless its client had left before', () => {
  const plan = planOf({ provider: 'honest', words: 3 });
  const nothing = { words: 0, finish: false };
  const unsent = 3 + 3 + 1;
  const estimate = BigInt(plan.estimatedInput);
  expect(costs(plan, unsent, { ...nothing, left: false }, { stoppedMs: 500 })).toEqual([estimate, 0n]);
  expect(costs(plan, unsent, nothing, { stoppedMs: 500 })).toEqual([estimate, 0n]);
  expect(costs(plan, unsent, nothing, { stoppedMs: 1500 })).toEqual([estimate]);
});

test('a call counts in a minute from its sending until it has arrived at the provider', () => {
  const plan = planOf({});
  const sent = (sentMs: number, arrivedMs: number): CallResult => ({
    plan,
    key: 'k',
    sentMs,
    overMs: sentMs + 5,
    seen: {
      status: undefined,
      requestId: undefined,
      words: 0,
      finish: false,
      complete: false,
      left: true,
      sent: true,
      text: '',
    },
    wasKilled: false,
    journal: [{ atMs: arrivedMs + performance.timeOrigin } as JournalEntry],
  });
  const first = [0, 1, 2, 3].map((at) => sent(at, at + 10));
  const faultsWith = (last: CallResult) => limitFaults([...first, last], new Map([['k', 3]]));
  expect(faultsWith(sent(59_000, 59_900))).toHaveLength(1);
  expect(faultsWith(sent(59_000, 65_000))).toEqual([]);
});
