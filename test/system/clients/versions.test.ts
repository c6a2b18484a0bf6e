/** Past failures of libraries that are in use, each tested with the library that failed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ReplyEvent } from '../../../src/canonical/reply.ts';
import { dialectNamed } from '../../../src/dialects/index.ts';
import { type Served, startVersionsClient, VERSIONS, type VersionsClient } from '../../clients/versions-client.ts';
import { chatCall } from '../../helpers/chat-call.ts';
import { type GatewayProcess, startGateway } from '../../helpers/gateway-process.ts';

const INSTALL_MS = 300_000;
const NO_BYTES = new Uint8Array(0);

let client: VersionsClient;
let gateway: GatewayProcess;
beforeAll(async () => {
  client = await startVersionsClient();
  gateway = await startGateway({ environment: { MODELPORT_LOG_LEVEL: 'error' } });
}, INSTALL_MS);
afterAll(async () => {
  client.stop();
  await gateway.stop();
});

const START: ReplyEvent = { type: 'reply-start', id: 'r1', model: 'provider-model', createdSeconds: 7 };
const SAYS: ReplyEvent[] = [
  { type: 'part-start', choice: 0, part: 0, opens: { type: 'text' } },
  { type: 'part-delta', choice: 0, part: 0, delta: 'Hello.' },
];
const ENDS: ReplyEvent[] = [
  { type: 'part-end', choice: 0, part: 0 },
  { type: 'choice-end', choice: 0, finish: { reason: 'stop' } },
];
const USED: ReplyEvent = { type: 'usage', usage: { input: 3, output: 4, source: 'reported' } };

/** A reply of another format as a client of this format gets it. */
function written(format: string, stream: boolean, events: readonly ReplyEvent[]): Served {
  const call = chatCall({ stream, origin: { dialect: 'none', body: NO_BYTES, framing: 'sse' } });
  const writer = dialectNamed(format)?.writer(call);
  if (!writer) throw new Error(`There is no ${format}.`);
  const pieces = events.map((event) => writer.write({ bytes: NO_BYTES, events: [event] }));
  return {
    contentType: writer.contentType,
    pieces: [...pieces, writer.end()].map((piece) => Buffer.from(piece).toString()),
  };
}

/** A reply of a provider of the same format as its client gets it. */
function passed(format: string, body: string, wantsUsage: boolean): Served {
  const call = chatCall({ stream: true, wantsUsage });
  const dialect = dialectNamed(format);
  const reader = dialect?.reader(call, 'text/event-stream', {});
  const writer = dialect?.writer(call);
  if (!reader || !writer) throw new Error(`There is no ${format}.`);
  const frames = [...reader.read(Buffer.from(body)), ...reader.end()];
  const pieces = [...frames.map((frame) => writer.pass(frame)), writer.end()];
  return { contentType: writer.contentType, pieces: pieces.map((piece) => Buffer.from(piece).toString()) };
}

const among = (format: keyof typeof VERSIONS, name: RegExp) => VERSIONS[format].filter((library) => name.test(library));

async function sees(library: string, format: string, stream: boolean, served: Served) {
  const { reply, error } = await client.run({ library, format, stream, ...served });
  expect(error).toBeUndefined();
  return reply;
}

describe('a message', () => {
  test.each(VERSIONS['anthropic-messages'])('without citations has no citation members: %s', async (library) => {
    const served = written('anthropic-messages', false, [START, ...SAYS, ...ENDS, USED]);
    expect(await sees(library, 'anthropic-messages', false, served)).toMatchObject({ text: 'Hello.' });
  });

  const citation = { url: 'https://example.test/page', start: 0, end: 6 };
  const cited: ReplyEvent[] = [START, ...SAYS, { type: 'part-citation', choice: 0, part: 0, citation }, ...ENDS, USED];
  // AI SDK 4 does not support citations in streams.
  test.each(among('anthropic-messages', /^ai [567]/))('with a citation without title is read: %s', async (library) => {
    for (const stream of [true, false]) {
      const served = written('anthropic-messages', stream, cited);
      expect(await sees(library, 'anthropic-messages', stream, served)).toMatchObject({ text: 'Hello.' });
    }
  });
});

test.each(among('gemini', /^ai/))('citations of a document become grounding that %s reads', async (library) => {
  const citation = { title: 'Notes', citedText: 'Hello.', start: 0, end: 6 };
  const cited: ReplyEvent[] = [START, ...SAYS, { type: 'part-citation', choice: 0, part: 0, citation }, ...ENDS, USED];
  for (const stream of [true, false]) {
    expect(await sees(library, 'gemini', stream, written('gemini', stream, cited))).toMatchObject({ text: 'Hello.' });
  }
});

test.each(VERSIONS['openai-responses'])(
  'a response contains usage although its provider reported none: %s',
  async (library) => {
    for (const stream of [true, false]) {
      const served = written('openai-responses', stream, [START, ...SAYS, ...ENDS]);
      const reply = await sees(library, 'openai-responses', stream, served);
      expect(Object.values(reply?.usage ?? {}).some((count) => typeof count === 'number' && count > 0)).toBe(true);
    }
  },
);

describe('a chat stream', () => {
  const chunk = (members: object) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 7, model: 'm', ...members })}\n\n`;
  const choice = (delta: object, finish_reason: string | null = null) => [{ index: 0, delta, finish_reason }];
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

  test.each(among('openai-chat', /^mistral/))(
    'has no empty usage for a client that did not request it: %s',
    async (library) => {
      const body =
        chunk({ choices: choice({ role: 'assistant', content: 'Hel' }), usage: null }) +
        chunk({ choices: choice({ content: 'lo.' }), usage: null }) +
        chunk({ choices: choice({}, 'stop'), usage: null }) +
        chunk({ choices: [], usage });
      const served = passed('openai-chat', `${body}data: [DONE]\n\n`, false);
      expect(served.pieces.join('')).not.toContain('usage');
      expect(await sees(library, 'openai-chat', true, served)).toMatchObject({ text: 'Hello.', finish: 'stop' });
    },
  );

  test.each(among('openai-chat', /^openai/))('ends its choices before it reports usage: %s', async (library) => {
    const body = chunk({ choices: choice({ role: 'assistant', content: 'Hello.' }) }) + chunk({ choices: [], usage });
    const served = passed('openai-chat', `${body}data: [DONE]\n\n`, true);
    const sent = served.pieces.join('');
    expect(sent.indexOf('"finish_reason":"stop"')).toBeGreaterThan(0);
    expect(sent.indexOf('"total_tokens"')).toBeGreaterThan(sent.indexOf('"finish_reason":"stop"'));
    const reply = await sees(library, 'openai-chat', true, served);
    expect(reply).toMatchObject({ text: 'Hello.', finish: 'stop', usage });
  });
});

test.each(among('openai-responses', /^openai/))(
  'a stream without event names stays without them: %s',
  async (library) => {
    const event = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
    const item = { id: 'm', type: 'message', role: 'assistant', status: 'completed' };
    const content = [{ type: 'output_text', text: 'Hello.', annotations: [] }];
    const response = { id: 'r', object: 'response', created_at: 7, status: 'in_progress', model: 'm', output: [] };
    const place = { item_id: 'm', output_index: 0, content_index: 0 };
    const body =
      event({ type: 'response.created', response }) +
      event({ type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } }) +
      event({ type: 'response.content_part.added', ...place, part: { ...content[0], text: '' } }) +
      event({ type: 'response.output_text.delta', ...place, delta: 'Hello.' }) +
      event({ type: 'response.output_item.done', output_index: 0, item: { ...item, content } }) +
      // The empty output is normalized, which writes the event anew.
      event({ type: 'response.completed', response: { ...response, status: 'completed' } });
    const served = passed('openai-responses', body, true);
    expect(served.pieces.join('')).not.toContain('event:');
    expect(await sees(library, 'openai-responses', true, served)).toMatchObject({
      text: 'Hello.',
      finish: 'completed',
    });
  },
);

test.each(among('gemini', /^ai/))('tools in one object are accepted: %s', async (library) => {
  const { url, apiKey } = gateway;
  for (const stream of [true, false]) {
    const { reply, error } = await client.run({
      library,
      format: 'gemini',
      stream,
      tools: true,
      url,
      apiKey,
      model: 'sandbox-chat',
    });
    expect(error).toBeUndefined();
    expect(reply?.calls.length === 1 || reply?.text !== '').toBe(true);
  }
});
