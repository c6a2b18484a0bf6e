/** A provider that repeats everything it knows of the operator: no credential, host or account reaches a client. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Scene, startScene } from '../helpers/scene.ts';
import { FORMATS, origin } from './any-format.ts';

/** A value that no pattern for credentials matches. */
const CANARY = 'zq7Kw2ordinaryLookingWord99';
const PROJECT = 'blue-whale-77';

type Fault =
  | 'refusal'
  | 'failure'
  | 'error in a non-streaming reply'
  | 'error before a stream'
  | 'error within a stream';
let fault: Fault = 'refusal';

/** Everything the request contains, in several spellings. */
function echoOf(request: Request): string {
  const { host, hostname } = new URL(request.url);
  const key =
    request.headers.get('x-api-key') ?? request.headers.get('x-goog-api-key') ?? request.headers.get('authorization');
  const bare = (key ?? '').replace(/^Bearer /, '');
  const basic = Buffer.from(`user:${bare}`).toString('base64');
  return `key ${bare} (${key}) as ${basic} and ${encodeURIComponent(bare)} at ${host}, ${hostname}, project ${PROJECT}`;
}

const errorOf = (words: string) => ({
  error: { message: words, type: words.split(' ')[1], code: words.split(' ')[1], param: words, status: 400 },
});

/** The beginning of a stream before it fails. */
const OPENINGS: readonly [path: RegExp, lines: (words: string) => string][] = [
  [
    /chat\/completions/,
    (words) =>
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' } }] })}\n\ndata: ${JSON.stringify(errorOf(words))}\n\n`,
  ],
  [
    /messages/,
    (words) =>
      [
        [
          'message_start',
          {
            message: {
              id: 'm',
              type: 'message',
              role: 'assistant',
              content: [],
              model: 'm',
              usage: { input_tokens: 1, output_tokens: 1 },
            },
          },
        ],
        ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
        ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hi' } }],
        ['error', { error: { type: 'overloaded_error', message: words } }],
      ]
        .map(([type, members]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...(members as object) })}\n\n`)
        .join(''),
  ],
  [
    /Content/,
    (words) =>
      `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hi' }] } }] })}\n\ndata: ${JSON.stringify({ error: { code: 400, message: words, status: words } })}\n\n`,
  ],
  [
    /responses/,
    (words) =>
      [
        {
          type: 'response.created',
          response: { id: 'r', object: 'response', status: 'in_progress', model: 'm', output: [] },
        },
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { id: 'i', type: 'message', role: 'assistant', content: [], status: 'in_progress' },
        },
        {
          type: 'response.content_part.added',
          item_id: 'i',
          output_index: 0,
          content_index: 0,
          part: { type: 'output_text', text: '', annotations: [] },
        },
        { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Hi' },
        { type: 'error', code: words, message: words, param: words },
      ]
        .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
        .join(''),
  ],
];

let provider: ReturnType<typeof Bun.serve>;
let scene: Scene;
beforeAll(async () => {
  provider = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const words = echoOf(request);
      const headers = { 'x-request-id': words, 'openai-organization': words };
      if (fault === 'refusal') return Response.json(errorOf(words), { status: 400, headers });
      if (fault === 'failure') return Response.json(errorOf(words), { status: 500, headers });
      if (fault === 'error in a non-streaming reply') return Response.json(errorOf(words), { headers });
      const event = `data: ${JSON.stringify(errorOf(words))}\n\n`;
      const opening = OPENINGS.find(([path]) => path.test(request.url))?.[1](words) ?? '';
      const body = fault === 'error before a stream' ? event : opening;
      return new Response(body, { headers: { ...headers, 'content-type': 'text/event-stream' } });
    },
  });
  scene = await startScene();
}, 60_000);
afterAll(async () => {
  await scene.close();
  await provider.stop(true);
}, 60_000);

const ask = origin(() => scene);

/** Everything received; a failing stream may end with its connection. */
async function readAll(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  } catch {
    // What arrived before counts.
  }
  return text;
}

/** Values that must not occur anywhere. */
function expectNothingIn(text: string, where: string): void {
  const basic = Buffer.from(`user:${CANARY}`).toString('base64').slice(8, -4);
  const { port } = provider;
  for (const canary of [CANARY, basic, PROJECT, `127.0.0.1:${port}`])
    expect(text.includes(canary) ? `${where} holds ${canary}: ${text}` : '').toBe('');
}

test.each(['openai-compatible', 'openai', 'anthropic', 'google'])(
  '%s',
  async (type) => {
    const path = type === 'google' ? '/v1beta' : type === 'anthropic' ? '' : '/v1';
    const stage = await scene.stage({
      type,
      credential: CANARY,
      settings: { project: PROJECT },
      baseUrls: [`http://127.0.0.1:${provider.port}${path}`],
    });
    let redactedCount = 0;
    for (fault of [
      'refusal',
      'failure',
      'error in a non-streaming reply',
      'error before a stream',
      'error within a stream',
    ] as const) {
      for (const format of FORMATS) {
        const response = await ask(stage, format, fault.includes('stream'));
        const body = await readAll(response);
        if (body.includes('[key]')) redactedCount++;
        expectNothingIn(JSON.stringify([...response.headers]) + body, `${fault} to ${format}`);
      }
    }
    // The provider's message passes, without the operator's secrets.
    expect(redactedCount).toBeGreaterThan(0);
    expectNothingIn(JSON.stringify(await stage.settled()), 'the record');
    expectNothingIn(await scene.gateway.metrics(), 'the metrics');
    const secret = (line: string) => !line.includes('listens on');
    expectNothingIn(scene.gateway.log().split('\n').filter(secret).join('\n'), 'the log');
  },
  60_000,
);
