/** Bedrock with the running gateway: recorded replies for clients of every format, its event stream, its failures. */
import { describe, expect, test } from 'bun:test';
import { bedrockConverse } from '../../src/dialects/chat/bedrock-converse/bedrock-converse.ts';
import { replyOf } from '../conformance/dialect-laws.ts';
import { rawTextOf } from '../helpers/broken-stream.ts';
import { chatCall } from '../helpers/chat-call.ts';
import { packChunk, packEvent, packException } from '../helpers/event-stream.ts';
import { type RecordedCase, recordedCases, replyBytes, replyContentType } from '../helpers/fixtures.ts';
import { costOf, nanoCost } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { verifySignature } from '../helpers/signature-v4.ts';
import { stagePool } from '../helpers/stage-pool.ts';
import { contentOf, FORMATS, origin, questionOf, readBack } from './any-format.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const BEDROCK = {
  type: 'bedrock',
  credential: `AKIAIOSFODNN7EXAMPLE:${SECRET}`,
  settings: { region: 'us-east-1' },
  upstreamModel: 'us.amazon.nova-2-lite-v1:0',
};
const CLAUDE = { ...BEDROCK, upstreamModel: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' };
const FRAMES = { 'content-type': 'application/vnd.amazon.eventstream' };

const scene = useScene({}, { checksEachTest: false });
const ask = origin(() => scene);

function recordedMeaning(recorded: RecordedCase) {
  const reader = bedrockConverse.reader(chatCall({ stream: recorded.stream }), replyContentType(recorded), {});
  const events = [...reader.read(replyBytes(recorded)), ...reader.end()].flatMap((frame) => frame.events);
  return { ...contentOf(events), usage: replyOf(events).usage };
}

describe('Bedrock by Converse', () => {
  const cases = recordedCases('bedrock-converse').filter(({ status }) => status === 200);
  const stages = stagePool(() => scene.stage(BEDROCK));
  test.each(FORMATS)(
    'every recording reaches a client of %s and is charged by its usage',
    (format) =>
      sideBySide(
        cases,
        ({ file }) => file,
        async (recorded) => {
          const stage = await stages.take();
          stage.script({ fixture: recorded.file, chunking: { seed: cases.indexOf(recorded) + 1 } });
          const { usage, ...meant } = recordedMeaning(recorded);
          expect(await readBack(format, await ask(stage, format, recorded.stream), recorded.stream)).toEqual(meant);
          const call = await stage.settledCall();
          expect(call.outcome).toBe('ok');
          stages.giveBack(stage, call);
          if (usage) expect(nanoCost(call)).toBe(costOf({ ...usage, cachedInput: usage.cachedInput ?? 0 }));
        },
      ),
    60_000,
  );

  test('the request is signed and has the model in its path', async () => {
    const stage = await scene.stage(BEDROCK);
    stage.script({ fixture: cases.find(({ stream }) => stream)?.file ?? '' });
    await (await ask(stage, 'openai-chat', true)).arrayBuffer();
    const [sent] = stage.journal();
    expect(sent?.path).toEndWith('/model/us.amazon.nova-2-lite-v1%3A0/converse-stream');
    expect(sent?.body).toEqual({ messages: [{ role: 'user', content: [{ text: 'Hello' }] }] });
    const arrived = {
      method: 'POST',
      path: sent?.path ?? '',
      headers: sent?.headers ?? {},
      body: JSON.stringify(sent?.body),
    };
    expect(verifySignature(arrived, SECRET)).toMatchObject({
      ok: true,
      scope: expect.stringContaining('/us-east-1/bedrock/aws4_request'),
    });
  });
});

describe('refusals and failures of Bedrock', () => {
  const begun = [
    packEvent('messageStart', { role: 'assistant' }),
    packEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Half' } }),
  ];

  test.each(FORMATS)(
    'an exception in the middle of a stream is an error for a client of %s, without a normal end',
    async (format) => {
      const stage = await scene.stage(BEDROCK);
      const bytes = Buffer.concat([...begun, packException('modelStreamErrorException', 'arn:aws:secret broke')]);
      stage.script({ bytes, headers: FRAMES, chunking: { seed: 3 } });
      const text = await rawTextOf(scene.gateway.url, questionOf(stage, format, true));
      expect(text).toContain('Half');
      expect(text).toMatch(/error/);
      expect(text).not.toMatch(/finishReason|\[DONE\]|message_stop|response\.completed|arn:/);
      expect(await stage.settledCall()).toMatchObject({ outcome: 'broken', errorCode: 'upstream_failed' });
    },
  );

  test.each([
    ['a flipped bit', (bytes: Buffer) => (bytes[bytes.length - 30]! ^= 1)],
    ['a message cut off', () => {}],
  ] as const)('%s is an invalid reply', async (_, damage) => {
    const stage = await scene.stage(BEDROCK);
    const bytes = Buffer.concat([
      ...begun,
      packEvent('messageStop', { stopReason: 'end_turn' }).subarray(0, -4),
      Buffer.alloc(4),
    ]);
    damage(bytes);
    stage.script({ bytes, headers: FRAMES, chunking: 'whole' });
    const text = await (await ask(stage, 'openai-chat', true)).text();
    expect(text).toContain('Half');
    expect(text).not.toContain('[DONE]');
    expect(await stage.settledCall()).toMatchObject({ outcome: 'broken' });
  });

  test.each([
    ['throttled before it begins', { bytes: packException('throttlingException', 'slower'), headers: FRAMES }],
    [
      'throttled',
      { json: { message: 'Too many requests' }, status: 429, headers: { 'x-amzn-errortype': 'ThrottlingException:' } },
    ],
    [
      'a token that has expired',
      {
        json: { message: 'The security token is expired' },
        status: 403,
        headers: { 'x-amzn-errortype': 'ExpiredTokenException' },
      },
    ],
    [
      'a model it does not serve here',
      {
        json: { message: 'The provided model identifier is invalid.' },
        status: 400,
        headers: { 'x-amzn-errortype': 'ValidationException' },
      },
    ],
    [
      'a quota',
      { json: { message: 'Quota' }, status: 400, headers: { 'x-amzn-errortype': 'ServiceQuotaExceededException' } },
    ],
  ])('%s: the next target answers', async (_, refusal) => {
    const stage = await scene.stage({ ...BEDROCK, targets: 2 });
    stage.scriptTarget(0, refusal);
    const events = [
      ...begun,
      packEvent('messageStop', { stopReason: 'end_turn' }),
      packEvent('metadata', { usage: { inputTokens: 3, outputTokens: 2 } }),
    ];
    stage.scriptTarget(1, { bytes: Buffer.concat(events), headers: FRAMES });
    const text = await (await ask(stage, 'openai-chat', true)).text();
    expect(text).toContain('[DONE]');
    expect(await stage.settledCall()).toMatchObject({ outcome: 'ok', attempts: 2 });
  });

  test("an invalid request is refused once, without the operator's names", async () => {
    const stage = await scene.stage({ ...BEDROCK, targets: 2 });
    const message = 'The model arn:aws:bedrock:us-east-1:123456789012:inference-profile/x reads no video.';
    stage.script({
      json: { message },
      status: 400,
      headers: { 'x-amzn-errortype': 'ValidationException:http://internal/' },
    });
    const response = await ask(stage, 'openai-chat', false);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('The model [resource] reads no video.');
  });
});

describe('Claude on Bedrock', () => {
  const cases = recordedCases('anthropic-messages').filter(
    ({ status, stream, file }) => status === 200 && stream && !file.includes('duplicate'),
  );
  const payloadsOf = (text: string) =>
    text.split(/\r?\n/).flatMap((line) => (/^data: ?\{/.test(line) ? [JSON.parse(line.slice(line.indexOf('{')))] : []));

  test(
    'every recorded stream, in frames split anywhere, reaches a Messages client with its original events',
    () =>
      sideBySide(
        cases,
        ({ file }) => file,
        async (recorded) => {
          const payloads = payloadsOf(Buffer.from(replyBytes(recorded)).toString());
          // The price of input is so small that no report is disputed: a disputed one would be changed.
          const stage = await scene.stage({ ...CLAUDE, price: { input: 0.01, output: 4 } });
          stage.script({
            bytes: Buffer.concat(payloads.map(packChunk)),
            headers: FRAMES,
            chunking: { seed: cases.indexOf(recorded) + 1 },
          });
          const response = await ask(stage, 'anthropic-messages', true);
          expect(response.headers.get('content-type')).toContain('text/event-stream');
          const passed = payloadsOf(await response.text());
          const named = payloads.map((payload) =>
            payload.type === 'message_start'
              ? { ...payload, message: { ...payload.message, model: stage.model } }
              : payload,
          );
          if (named.at(-1)?.type === 'message_stop') expect(passed).toEqual(named);
          await stage.settledCall();
        },
      ),
    60_000,
  );

  test('its body contains the version and no model, and no Anthropic headers are sent', async () => {
    const stage = await scene.stage(CLAUDE);
    stage.script({
      bytes: Buffer.concat(payloadsOf(Buffer.from(replyBytes(cases[0]!)).toString()).map(packChunk)),
      headers: FRAMES,
    });
    await (await ask(stage, 'anthropic-messages', true)).text();
    const [sent] = stage.journal();
    expect(sent?.path).toEndWith('/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream');
    expect(sent?.body).toEqual({
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 4096,
      anthropic_version: 'bedrock-2023-05-31',
    });
    expect(Object.keys(sent?.headers ?? {}).filter((name) => name.startsWith('anthropic'))).toEqual([]);
  });

  test('an exception in the middle of a stream is an error event of the format', async () => {
    const stage = await scene.stage(CLAUDE);
    const [start] = payloadsOf(Buffer.from(replyBytes(cases[0]!)).toString());
    const open = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } };
    const bytes = Buffer.concat([
      ...[start, open, delta].map(packChunk),
      packException('throttlingException', 'slower'),
    ]);
    stage.script({ bytes, headers: FRAMES, chunking: 'byte' });
    const text = await (await ask(stage, 'anthropic-messages', true)).text();
    expect(text).toContain('event: error');
    expect(text).not.toContain('message_stop');
    expect(await stage.settledCall()).toMatchObject({ outcome: 'broken', errorCode: 'rate_limited' });
  });
});
