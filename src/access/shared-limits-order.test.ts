/** Shared limits with a connection whose scripts are sent and answered by the test. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ADMIT_AND_END, PRESENT, RENEW } from './limit-scripts.ts';
import type { Limits } from './limits.ts';
import type { ScriptInput } from './redis-link.ts';
import { createSharedLimits } from './shared-limits.ts';

interface Script {
  script: string;
  input(): ScriptInput;
  resolve(answer: unknown): void;
}

const NOW = 1_800_000_000_000;
const COUNTED = [1, NOW / 1000, 1, 0, 61, 0, 1];
const PACED = { id: 'key_1', of: 'key', concurrency: 1 } as const;

let scripts: Script[] = [];
let limits: Limits;
let now = 0;
let answersBeats = false;
let isUp = true;
let timeoutMs = 10_000;
beforeEach(() => {
  scripts = [];
  now = 0;
  answersBeats = false;
  isUp = true;
  timeoutMs = 10_000;
  limits = createSharedLimits({
    url: '',
    link: {
      run: (script, input) =>
        new Promise((resolve) => {
          if (answersBeats && script === PRESENT) resolve([NOW, 'epoch', []]);
          else scripts.push({ script, input, resolve });
        }),
      renew() {},
      close() {},
    },
    prefix: 't:',
    get timeoutMs() {
      return timeoutMs;
    },
    whenDown: 'open',
    clock: () => now,
    beatMs: 5,
    changed: (up) => {
      isUp = up;
    },
  });
});
afterEach(() => limits.close());

const admit = (callId: string) => Promise.resolve(limits.admit({ callId, paced: [PACED], tokens: 0 }));
/** The next script of this kind, which is no longer waiting then. */
async function next(kind: string): Promise<Script> {
  for (;;) {
    const index = scripts.findIndex(({ script }) => script === kind);
    if (index >= 0) return scripts.splice(index, 1)[0] as Script;
    await Bun.sleep(1);
  }
}
const answer = ({ input, resolve }: Script, ...answers: unknown[]) => {
  input();
  resolve(JSON.stringify([NOW, ...answers]));
};

test('a call that ends in a script sent before the renewal of its lease is not renewed', async () => {
  const admitting = admit('call_1');
  answer(await next(ADMIT_AND_END), COUNTED);
  const call = await admitting;
  const beat = await next(PRESENT);
  now = 10_000;
  // The script of this turn comes first in the queue, then the renewal, and then the end joins the former.
  void admit('call_2');
  beat.resolve([NOW, 'epoch', []]);
  for (let n = 0; n < 1000 && scripts.length < 2; n++) await Promise.resolve();
  call.end(0);
  const [turn, renewal] = scripts.map(({ script, input }) => ({ script, args: input().args.join() }));
  expect([turn?.script === ADMIT_AND_END, turn?.args.includes('call_1')]).toEqual([true, true]);
  expect([renewal?.script === RENEW, renewal?.args.includes('call_1')]).toEqual([true, false]);
});

test('an answer that names no limit leaves no call waiting', async () => {
  const calls = [admit('call_1'), admit('call_2')];
  answer(await next(ADMIT_AND_END), [0, 7, 9, 1], COUNTED);
  expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});

test('a call does not join a script that was too late before it was sent', async () => {
  timeoutMs = 20;
  const first = await admit('call_1');
  await next(ADMIT_AND_END);
  first.end(0);
  timeoutMs = 10_000;
  answersBeats = true;
  while (!isUp) await Bun.sleep(1);
  const second = admit('call_2');
  answer(await next(ADMIT_AND_END), COUNTED);
  await second;
});
