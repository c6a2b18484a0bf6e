/** Every recorded stream in OpenAI's format passes through the gateway byte for byte, except the model's name. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { withoutCost } from '../helpers/cost-comment.ts';
import { atLeast, type RecordedCase, recordedCases, replyBytes, requestBytes } from '../helpers/fixtures.ts';
import { type Scene, type Stage, startScene } from '../helpers/scene.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { stagePool } from '../helpers/stage-pool.ts';
import type { Chunking } from '../upstream/answer.ts';

const CUTTINGS: readonly Chunking[] = ['event', 'byte', 'whole', { seed: 1 }, { seed: 2 }, { seed: 3 }];

interface Chunk {
  model?: string;
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null;
  choices?: { index?: number; finish_reason?: string | null; delta?: Delta }[];
}
interface Delta {
  annotations?: { index?: number }[];
  tool_calls?: { id?: string }[];
}

function chunksOf(recorded: RecordedCase): Chunk[] {
  const lines = Buffer.from(replyBytes(recorded)).toString().split('\n');
  return lines.filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)));
}

/** What the gateway normalizes differs from the provider's bytes: two finish reasons, empty ids, entries without index, wrong sums. */
function isWellFormed(recorded: RecordedCase): boolean {
  if (JSON.stringify(recorded.native_sdk ?? {}).includes('FAIL')) return false;
  const finished = new Set<number>();
  for (const { choices = [], usage } of chunksOf(recorded)) {
    if (usage && usage.prompt_tokens + usage.completion_tokens !== usage.total_tokens) return false;
    for (const { index = 0, finish_reason, delta } of choices) {
      if (finish_reason && finished.has(index)) return false;
      if (finish_reason) finished.add(index);
      if (delta?.tool_calls?.some((call) => call.id === '')) return false;
      if (delta?.annotations?.some((annotation) => annotation.index === undefined)) return false;
    }
  }
  return true;
}

const STREAMS = ['openai-chat', 'openai-completions'].flatMap(recordedCases).filter((recorded) => recorded.stream);
const WELL_FORMED = STREAMS.filter(isWellFormed);
const MALFORMED = STREAMS.filter((recorded) => !isWellFormed(recorded));

let scene: Scene;
let stages = 0;
beforeAll(async () => {
  scene = await startScene();
}, 60_000);
afterAll(() => scene.close(), 30_000);

/** Sends the recorded request, asking for usage, so that nothing is withheld. */
function requestFor(recorded: RecordedCase, model: string): object {
  const bytes = requestBytes(recorded);
  // Wishes in OpenRouter's words are for the gateway, which has other providers: src/gateway/wishes.test.ts.
  const { provider: _, models: __, ...request } = bytes ? JSON.parse(Buffer.from(bytes).toString()) : {};
  const prompt =
    recorded.wire === 'openai-chat' ? { messages: [{ role: 'user', content: 'Hello' }] } : { prompt: 'Hello' };
  return { ...prompt, ...request, model, stream: true, stream_options: { include_usage: true } };
}

async function relayed(stage: Stage, recorded: RecordedCase, chunking: Chunking): Promise<string> {
  stage.script({ fixture: recorded.file, chunking });
  const path = recorded.wire === 'openai-chat' ? '/v1/chat/completions' : '/v1/completions';
  const response = await stage.post(path, requestFor(recorded, stage.model));
  expect(response.headers.get('content-type')).toStartWith('text/event-stream');
  return response.text();
}

/** The recording with the public model name, the only allowed difference. */
function renamed(recorded: RecordedCase, model: string): string {
  const text = Buffer.from(replyBytes(recorded)).toString();
  const names = new Set(chunksOf(recorded).map((chunk) => chunk.model ?? ''));
  let result = text;
  for (const name of names) {
    if (name !== '')
      result = result.replace(
        new RegExp(`("model":\\s*)${JSON.stringify(name).replace(/[.*+?^$()[\]|\\]/g, '\\$&')}`, 'g'),
        `$1${JSON.stringify(model)}`,
      );
  }
  return result.includes('data: [DONE]') ? result : `${result}data: [DONE]\n\n`;
}

describe('recorded streams pass byte for byte', () => {
  test('there are recordings of many providers', () => {
    expect(WELL_FORMED.length).toBeGreaterThanOrEqual(atLeast(50));
  });

  const free = stagePool(() => scene.stage({ model: `public/model-${++stages}` }));
  for (const chunking of CUTTINGS) {
    test(`cut by ${JSON.stringify(chunking)}`, async () => {
      await sideBySide(
        WELL_FORMED,
        (recorded) => recorded.file,
        async (recorded) => {
          const stage = await free.take();
          const reply = await relayed(stage, recorded, chunking);
          const call = await stage.settledCall();
          free.giveBack(stage, call);
          const text = withoutBill(withoutCost(reply, call), recorded);
          const wanted = renamed(recorded, stage.model);
          if (text !== wanted) throw new Error(firstDifference(text, wanted));
        },
      );
    }, 60_000);
  }

  test(
    'normalized replies do not depend on the splitting',
    () =>
      sideBySide(
        MALFORMED,
        (recorded) => recorded.file,
        async (recorded) => {
          const texts = new Set<string>();
          for (const chunking of CUTTINGS) {
            const stage = await scene.stage({ model: `mended/${++stages}` });
            texts.add(withoutOurs(await relayed(stage, recorded, chunking), stage.model));
          }
          const [first = '', second] = texts;
          if (second !== undefined) throw new Error(firstDifference(second, first));
        },
      ),
    60_000,
  );
});

/** If the provider reported no usage, a client that requested it gets the billed usage in a last chunk of its own. */
function withoutBill(text: string, recorded: RecordedCase): string {
  if (chunksOf(recorded).some(({ usage }) => usage)) return text;
  const billed = /data: \{[^\n]*"choices":\[\],"usage":\{[^\n]*\n\n(?=data: \[DONE\]\n\n$)/;
  if (!billed.test(text)) throw new Error('the client does not get the billed usage');
  return text.replace(billed, '');
}

/** Names and ids that always differ. */
function withoutOurs(text: string, model: string): string {
  return text.replaceAll(model, 'model').replaceAll(/"id":"[^"]*"/g, '"id":""');
}

function firstDifference(text: string, wanted: string): string {
  let at = 0;
  while (at < text.length && text[at] === wanted[at]) at++;
  return `at ${at}: ${JSON.stringify(text.slice(at - 20, at + 60))}, not ${JSON.stringify(wanted.slice(at - 20, at + 60))}`;
}
