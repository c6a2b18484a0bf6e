/**
 * Mutates replies other than chat (images, speech, transcripts, embeddings, rankings, moderations, videos) through a complete call: read,
 * written in every client's format, metered and settled. `mutations.test.ts` runs it in a separate process to watch its memory:
 * `bun test/conformance/mutate-other-replies.ts SEED MUTATIONS_PER_REPLY`. Prints one line of JSON.
 */

import type { Kind } from '../../src/canonical/call.ts';
import { newId } from '../../src/canonical/id.ts';
import { HOUR_MS } from '../../src/canonical/time.ts';
import { uploadOf } from '../../src/canonical/upload.ts';
import { createVideoReader } from '../../src/canonical/video-facts.ts';
import type { WireRequest } from '../../src/dialects/dialect.ts';
import { dialectNamed } from '../../src/dialects/index.ts';
import { jimengVideos } from '../../src/dialects/video/jimeng.ts';
import { klingVideos } from '../../src/dialects/video/kling.ts';
import { openaiVideos } from '../../src/dialects/video/openai-videos.ts';
import { videoGenerations } from '../../src/dialects/video/video-generations.ts';
import type { Answer, ByteSource } from '../../src/http1/answer.ts';
import { nearestClip } from '../../src/sandbox/clips.ts';
import { holding } from '../../src/tasks/held-task.ts';
import { step } from '../../src/tasks/step.ts';
import { createVideoTasks } from '../../src/tasks/video-tasks.ts';
import { randomFrom } from '../helpers/random-numbers.ts';
import { VIDEO_FORMATS, wide } from '../helpers/video-formats.ts';
import { mutateBody } from './mutate.ts';
import { type Answered, isOurs, modelOf, openMutationDeps, videoModelOf } from './mutation-deps.ts';
import { type OtherReply, otherReplies } from './other-replies.ts';

/** The maximum size of an answer to a mutated reply of some kilobytes. */
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;
const MOST_MS = 2000;

type TestRequest = Partial<WireRequest> & { body?: Uint8Array };
const asJson = (body: object): TestRequest => ({ body: Buffer.from(JSON.stringify(body)) });
const TEXTS = ['one', 'two', 'three'];
const asParts = (text: string) => ({ parts: [{ text }] });
const AUDIO = { name: 'file', filename: 'a.pcm', upload: uploadOf(new Uint8Array(48_000)) };
const heard = (format: string, stream = 'false'): TestRequest => ({
  path: { action: 'transcriptions' },
  form: {
    fields: [
      ['model', 'MODEL'],
      ['response_format', format],
      ['stream', stream],
    ],
    files: [AUDIO],
  },
});

/** How clients request each kind: by format, non-streaming and streaming. */
const REQUESTS: { readonly [kind in Kind]?: readonly (readonly [format: string, request: TestRequest])[] } = {
  embed: [
    ['openai-embeddings', asJson({ model: 'MODEL', input: TEXTS })],
    ['openai-embeddings', asJson({ model: 'MODEL', input: TEXTS, encoding_format: 'base64' })],
    ...[1, 2, 4, 5, 6].map((count): [string, TestRequest] => [
      'openai-embeddings',
      asJson({ model: 'MODEL', input: Array.from({ length: count }, () => 'one') }),
    ]),
    ['gemini-embed', asJson({ content: asParts('one') })],
    [
      'gemini-batch-embed',
      asJson({ requests: TEXTS.map((text) => ({ model: 'models/MODEL', content: asParts(text) })) }),
    ],
  ],
  rerank: [
    ['rerank', asJson({ model: 'MODEL', query: 'one', documents: TEXTS, return_documents: true })],
    ['rerank', asJson({ model: 'MODEL', query: 'one', documents: TEXTS, top_n: 1 })],
  ],
  moderation: [['openai-moderations', asJson({ model: 'MODEL', input: TEXTS })]],
  image: [
    ['openai-images', asJson({ model: 'MODEL', prompt: 'A cat', n: 2, response_format: 'b64_json' })],
    ['openai-images', asJson({ model: 'MODEL', prompt: 'A cat', response_format: 'url' })],
    ['openai-images', asJson({ model: 'MODEL', prompt: 'A cat', stream: true, partial_images: 2 })],
  ],
  speech: [
    ['openai-speech', asJson({ model: 'MODEL', input: 'Hello', voice: 'v', response_format: 'wav' })],
    [
      'openai-speech',
      asJson({ model: 'MODEL', input: 'Hello', voice: 'v', response_format: 'pcm', stream_format: 'sse' }),
    ],
  ],
  transcription: [
    ['openai-transcriptions', heard('json')],
    ['openai-transcriptions', heard('verbose_json')],
    ['openai-transcriptions', heard('srt')],
    ['openai-transcriptions', heard('text')],
    ['openai-transcriptions', heard('json', 'true')],
  ],
};
const FORMATS = [openaiVideos, videoGenerations, klingVideos, jimengVideos];

/** The provider's next answer, whatever the request. */
let answers = (): Answered => ({ contentType: '', body: new Uint8Array() });

type HttpDeps = Awaited<ReturnType<typeof openMutationDeps>>;

const textOf = (body: Uint8Array | string) => (typeof body === 'string' ? body : Buffer.from(body).toString());

/** All bytes of an answer, and the cause if it failed inside the gateway. */
async function bytesOf({ body = '' }: Answer): Promise<{ length: number; text: string; cause?: unknown }> {
  if (typeof body === 'string' || body instanceof Uint8Array) return { length: body.length, text: textOf(body) };
  return poured(body);
}

function poured(source: ByteSource): Promise<{ length: number; text: string; cause?: unknown }> {
  return new Promise((resolve) => {
    let length = 0;
    let last = '';
    const take = (bytes?: Uint8Array) => {
      length += bytes?.length ?? 0;
      if (bytes && bytes.length > 0) last = Buffer.from(bytes.subarray(0, 4096)).toString();
      return true;
    };
    source.start({
      write: take,
      end: (bytes) => {
        take(bytes);
        resolve({ length, text: last });
      },
      fail: (cause) => resolve({ length, text: last, cause }),
    });
  });
}

interface Outcome {
  cases: number;
  errors: number;
  faults: string[];
}

const OURS = /internal_error|had an internal error|failed on its own side/;

async function ask(
  deps: HttpDeps,
  reply: OtherReply,
  format: string,
  testRequest: TestRequest,
  what: string,
  outcome: Outcome,
) {
  const dialect = dialectNamed(format)!;
  const model = modelOf(reply);
  const body = Buffer.from(textOf(testRequest.body ?? '').replaceAll('MODEL', model));
  const form = testRequest.form && {
    ...testRequest.form,
    fields: testRequest.form.fields.map(([name, value]): [string, string] => [name, value === 'MODEL' ? model : value]),
  };
  const headers = new Headers({ 'content-type': form ? 'multipart/form-data; boundary=x' : 'application/json' });
  const request: WireRequest = {
    body,
    headers,
    path: { model, ...testRequest.path },
    query: new URLSearchParams(),
    ...(form && { form }),
  };
  outcome.cases++;
  const started = performance.now();
  const client = { hasLeft: false, onLeave: undefined };
  const requestId = newId('req_');
  const answer = await deps.gateway.serve(dialect, {
    key: deps.key,
    address: '127.0.0.1',
    requestId,
    announcedBytes: body.length,
    read: () => request,
    client,
  });
  const { length, text, cause } = await bytesOf(answer);
  const ms = performance.now() - started;
  if (answer.status >= 400 || /"error"/.test(text)) outcome.errors++;
  if (answer.status === 500 || OURS.test(text) || (cause !== undefined && isOurs(cause)))
    outcome.faults.push(
      `${what}: ${answer.status} ${text.slice(0, 200)} ${cause === undefined ? '' : Bun.inspect(cause)}`,
    );
  if (length > MOST_OUTPUT_BYTES) outcome.faults.push(`${what}: ${length} bytes`);
  if (ms > MOST_MS) outcome.faults.push(`${what}: took ${Math.round(ms)} ms`);
  // A reply that its provider blocked is a success too.
  return cause === undefined && (/"content_filter"/.test(text) || (answer.status === 200 && !/"error"/.test(text)));
}

/** A video, one answer of whose provider is mutated: that of its start, or that of a look. */
async function make(deps: HttpDeps, format: (typeof VIDEO_FORMATS)[number], random: () => number, outcome: Outcome) {
  const { provider } = format;
  const encoded = (body: unknown) => Buffer.from(JSON.stringify(body));
  const mutated = (body: unknown) => Buffer.from(mutateBody(JSON.stringify(body), random));
  const looks = [format.working, format.unheard, format.failed, format.done, format.done, format.done];
  const changed = Math.floor(random() * 3);
  const row = [
    changed === 0 ? mutated(format.begun) : encoded(format.begun),
    mutated(looks[Math.floor(random() * looks.length)]),
    encoded(format.done),
  ];
  const what = `${provider.name}: ${row.map((body) => body.toString().slice(0, 300)).join(' then ')}`;
  answers = () => ({ contentType: 'application/json', body: row.length > 1 ? row.shift()! : row[0]! });
  outcome.cases++;
  const videos = createVideoTasks(deps.tasks);
  const started = performance.now();
  try {
    const ask = { ...wide, model: videoModelOf(provider.name), metadata: {} };
    const task = await videos.create({ caller: deps.caller, format: 'openai-videos', strict: false, ask });
    const held = { task, lost: false };
    for (let looked = 0; looked < 3 && held.task.state !== 'completed' && held.task.state !== 'failed'; looked++) {
      await deps.tasks.store.tasks.claim(deps.tasks.worker, Date.now() + HOUR_MS, Date.now() + 2 * HOUR_MS, 100);
      held.lost = false;
      await holding(deps.tasks, held, () => step(deps.tasks, held));
    }
    for (const videoFormat of FORMATS) {
      const view = { ...held.task, urls: held.task.outputs.map(({ file }) => `http://here.test/${file}`) };
      const shown = JSON.stringify(videoFormat.writeTask(view));
      if (shown.length > MOST_OUTPUT_BYTES) outcome.faults.push(`${what}: ${shown.length} bytes`);
    }
    if (held.task.state === 'failed') outcome.errors++;
  } catch (thrown) {
    outcome.errors++;
    if (isOurs(thrown)) outcome.faults.push(`${what}: ${Bun.inspect(thrown)}`);
  }
  const ms = performance.now() - started;
  if (ms > MOST_MS) outcome.faults.push(`${what}: took ${Math.round(ms)} ms`);
}

/** A file of a video whose bytes lie about their own lengths. */
function watchVideo(video: Uint8Array, random: () => number, outcome: Outcome): void {
  const bytes = Uint8Array.from(video);
  for (let changes = 0; changes < 8; changes++) bytes[Math.floor(random() * 600)] = Math.floor(random() * 256);
  const reader = createVideoReader();
  outcome.cases++;
  try {
    for (let at = 0; at < bytes.length; at += 1000) reader.see(bytes.subarray(at, at + 1000));
    const odd = Object.values(reader.facts()).filter((fact) => !(Number.isFinite(fact) && fact > 0));
    if (odd.length > 0) outcome.faults.push(`a video of ${odd}`);
  } catch (thrown) {
    outcome.faults.push(`a video: ${Bun.inspect(thrown)}`);
  }
}

if (import.meta.main) {
  const [seed = 1, mutations = 1] = process.argv.slice(2).map(Number);
  const random = randomFrom(seed);
  const outcome: Outcome = { cases: 0, errors: 0, faults: [] };
  const troubles: string[] = [];
  const replies = await otherReplies();
  const deps = await openMutationDeps(
    replies,
    () => answers(),
    (words) => troubles.push(words),
  );
  let peak = 0;
  for (const reply of replies) {
    const text = Buffer.from(reply.body).toString();
    let isServed = false;
    // The first round uses the unchanged reply: a reply that is refused anyway would test nothing.
    for (let round = 0; round <= mutations; round++) {
      const body = round === 0 ? reply.body : Buffer.from(mutateBody(text, random));
      answers = () => ({ contentType: reply.contentType, body });
      for (const [place, [format, testRequest]] of (REQUESTS[reply.kind] ?? []).entries()) {
        const what = `${reply.name} as ${format} (${place}), round ${round}`;
        const isGood = await ask(deps, reply, format, testRequest, what, outcome);
        if (round === 0) isServed ||= isGood;
      }
      if (!isServed) outcome.faults.push(`${reply.name} is served in no format`);
      peak = Math.max(peak, process.memoryUsage.rss());
    }
  }
  for (const format of VIDEO_FORMATS) {
    for (let round = 0; round < mutations * 2; round++) await make(deps, format, random, outcome);
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  const video = Buffer.from(nearestClip({ width: 64, height: 64, seconds: 2 }).base64, 'base64');
  for (let round = 0; round < mutations * 20; round++) watchVideo(video, random, outcome);
  await deps.close();
  const faults = [...outcome.faults, ...troubles];
  const peakMegabytes = Math.round(peak / 2 ** 20);
  console.log(JSON.stringify({ ...outcome, seed, peakMegabytes, faults: faults.slice(0, 200), faulty: faults.length }));
  process.exit(0);
}
