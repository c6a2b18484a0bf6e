import { describe, expect, test } from 'bun:test';
import { type Body, chatBody, user } from '../../test/helpers/sandbox-chat.ts';
import { addEvent, emptyReply } from '../canonical/reply.ts';
import { openaiCompletions } from '../dialects/chat/openai-completions/openai-completions.ts';
import { SseCutter } from '../dialects/wire/sse.ts';
import { createSandbox } from './sandbox.ts';

const naps: number[] = [];
const sandbox = createSandbox({
  sleep: async (ms, signal) => {
    signal.throwIfAborted();
    naps.push(ms);
  },
  now: () => 1_700_000_000_000,
});

function post(path: string, body: object, init: RequestInit = {}): Promise<Response> {
  return sandbox(
    new Request(`http://sandbox.invalid/v1${path}`, { method: 'POST', body: JSON.stringify(body), ...init }),
  );
}

async function chat(more: object = {}, prompt?: unknown): Promise<Body> {
  const response = await post('/chat/completions', chatBody(more, prompt));
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('application/json');
  return response.json();
}

async function streamed(path: string, body: object): Promise<{ chunks: Body[]; done: boolean }> {
  const response = await post(path, { ...body, stream: true });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const cutter = new SseCutter();
  const data = cutter.read(new Uint8Array(await response.arrayBuffer())).map((event) => event.data ?? '');
  expect(cutter.end()).toEqual([]);
  const done = data.at(-1) === '[DONE]';
  return { chunks: data.filter((line) => line !== '[DONE]').map((line) => JSON.parse(line)), done };
}

describe('a chat response', () => {
  test('is complete and the same each time', async () => {
    const [first, second] = [await chat(), await chat()];
    expect({ ...first, id: '' }).toEqual({ ...second, id: '' });
    expect(first.id).not.toBe(second.id);
    expect(first).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[0-9a-zA-Z]{24}$/),
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'sandbox-chat',
      choices: [{ index: 0, message: { role: 'assistant', refusal: null }, logprobs: null, finish_reason: 'stop' }],
    });
    expect(first.choices[0].message.content).toContain('sandbox');
    expect(first.choices[0].message.content).toContain('"Hello there"');
    const { prompt_tokens, completion_tokens, total_tokens, completion_tokens_details } = first.usage;
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);
    expect(completion_tokens_details.reasoning_tokens).toBe(0);
  });

  test('has the same content in a stream, with events in the required order', async () => {
    const whole = await chat({ n: 2, logprobs: true });
    const { chunks, done } = await streamed(
      '/chat/completions',
      chatBody({ n: 2, logprobs: true, stream_options: { include_usage: true } }),
    );
    expect(done).toBe(true);
    expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created} ${chunk.model} ${chunk.object}`)).size).toBe(1);
    const usage = chunks.pop();
    expect(usage).toMatchObject({ choices: [], usage: whole.usage });
    expect(chunks.every((chunk) => chunk.usage === null)).toBe(true);
    for (const index of [0, 1]) {
      const own = chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.index === index);
      expect(own[0].delta.role).toBe('assistant');
      expect(own.slice(1).every((choice) => !('role' in choice.delta))).toBe(true);
      expect(own.at(-1)).toEqual({ index, delta: {}, logprobs: null, finish_reason: 'stop' });
      expect(own.slice(0, -1).every((choice) => choice.finish_reason === null)).toBe(true);
      const content = own.map((choice) => choice.delta.content ?? '').join('');
      expect(content).toBe(whole.choices[index].message.content);
      expect(own.flatMap((choice) => choice.logprobs?.content ?? [])).toEqual(whole.choices[index].logprobs.content);
    }
    expect(whole.choices[0].message.content).not.toBe(whole.choices[1].message.content);
  });

  test('has no usage in a stream unless requested', async () => {
    const { chunks } = await streamed('/chat/completions', chatBody({}));
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
  });

  test('repeats instructions, counts turns and describes attached media', async () => {
    const messages = [
      { role: 'developer', content: 'Be kind.' },
      user('One'),
      { role: 'assistant', content: 'Two' },
      user([
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        { type: 'file', file: { file_id: 'f' } },
      ]),
    ];
    const output = (await chat({ messages })).choices[0].message.content;
    for (const words of [
      '"Be kind."',
      '"Look"',
      'an image (image/png, 1 bytes)',
      'an image (by address)',
      'a recording (audio/wav, 1 bytes)',
      'a document (by reference)',
      'message 2',
    ])
      expect(output).toContain(words);
  });

  test('ends before a stop sequence', async () => {
    const { message, finish_reason } = (await chat({ stop: ['never written', 'there'] })).choices[0];
    expect(message.content).toEndWith('You wrote: "Hello ');
    expect(finish_reason).toBe('stop');
    expect((await chat({ stop: 'This' })).choices[0].message.content).toBe('');
  });

  test.each(['max_tokens', 'max_completion_tokens'])('ends at %s', async (member) => {
    const { choices, usage } = await chat({ [member]: 7 });
    expect(choices[0].finish_reason).toBe('length');
    expect(usage.completion_tokens).toBe(7);
    expect((await chat()).choices[0].message.content).toStartWith(choices[0].message.content);
  });
});

describe('a text completion', () => {
  const body = { model: 'sandbox-chat', prompt: ['One', 'Two'], n: 2, echo: true, suffix: 'the end', logprobs: 1 };

  test('answers every prompt n times in one list, and echoes it if requested', async () => {
    const reply: Body = await (await post('/completions', body)).json();
    expect(reply).toMatchObject({ id: expect.stringMatching(/^cmpl-/), object: 'text_completion' });
    expect(reply.choices.map((choice: Body) => [choice.index, choice.text.slice(0, 4), choice.finish_reason])).toEqual([
      [0, 'One ', 'stop'],
      [1, 'One ', 'stop'],
      [2, 'Two ', 'stop'],
      [3, 'Two ', 'stop'],
    ]);
    expect(reply.choices[3].text).toContain('"the end"');
    expect(`Two${reply.choices[3].logprobs.tokens.join('')}`).toBe(reply.choices[3].text);
  });

  test('adds up to the whole when its stream is read by the format’s own reader', async () => {
    const replies = [];
    for (const stream of [false, true]) {
      const response = await post('/completions', {
        ...body,
        ...(stream && { stream, stream_options: { include_usage: true } }),
      });
      const reader = openaiCompletions.reader({} as never, response.headers.get('content-type') ?? '', {});
      const frames = reader.read(new Uint8Array(await response.arrayBuffer())).concat(reader.end());
      const reply = emptyReply();
      for (const frame of frames) for (const event of frame.events) addEvent(reply, event);
      for (const part of reply.choices.flatMap((choice) => choice.parts))
        part.logprobs = (part.logprobs ?? []).map((row: Body) => row.token);
      replies.push({ ...reply, id: '' });
    }
    expect(replies[1]).toEqual(replies[0]!);
    expect(replies[0]?.choices).toHaveLength(4);
    expect(replies[0]?.usage?.output).toBeGreaterThan(0);
  });

  test('counts token ids and applies stop sequences and limits', async () => {
    const ask = async (more: object): Promise<Body> =>
      (await post('/completions', { ...body, n: 1, echo: false, ...more })).json();
    expect((await ask({ prompt: [1, 2, 3] })).choices[0].text).toContain('3 token ids');
    expect((await ask({ prompt: [[1], [2]] })).choices).toHaveLength(2);
    expect((await ask({ stop: ['sandbox'] })).choices[0].text).toEndWith("Modelport's ");
    expect((await ask({ max_tokens: 2 })).choices[0]).toMatchObject({ finish_reason: 'length' });
  });
});

describe('directives in a prompt', () => {
  test.each([
    [503, 'api_error', null],
    [500, 'api_error', null],
    [429, 'rate_limit_error', '1'],
    [401, 'authentication_error', null],
    [400, 'invalid_request_error', null],
  ])('[[fail %i]]', async (status, type, retryAfter) => {
    for (const stream of [true, false]) {
      const response = await post('/chat/completions', chatBody({ stream }, `Please [[fail ${status}]]`));
      expect(response.status).toBe(status);
      expect(response.headers.get('retry-after')).toBe(retryAfter);
      expect(await response.json()).toMatchObject({ error: { type, message: expect.any(String), param: '' } });
    }
  });

  test('apply only in the last turn', async () => {
    const messages = [user('[[fail 503]]'), { role: 'assistant', content: 'no' }, user('Again')];
    expect((await chat({ messages })).choices[0].message.content).toContain('"Again"');
  });

  test('[[delay 2000]] waits before the response', async () => {
    naps.length = 0;
    expect((await chat({}, '[[delay 2000]] Hi')).choices[0].message.content).toContain('"Hi"');
    expect(naps).toEqual([2000]);
  });

  test('[[cut]] breaks the connection in the middle of a stream or body', async () => {
    for (const stream of [true, false]) {
      const response = await post('/chat/completions', chatBody({ stream }, '[[cut]]'));
      expect(response.status).toBe(200);
      let received = '';
      const reading = (async () => {
        for await (const chunk of response.body!) received += new TextDecoder().decode(chunk);
      })();
      const end = await reading.catch((thrown: Error) => thrown.message);
      expect(end).toContain('broke the connection');
      expect(received.length).toBeGreaterThan(20);
      expect(received).not.toContain('[DONE]');
      expect(received).not.toContain('"finish_reason":"stop"');
    }
  });
});

describe('pace and abort', () => {
  test('a stream pauses before each chunk except the first', async () => {
    naps.length = 0;
    const { chunks } = await streamed('/chat/completions', chatBody({ max_tokens: 5 }));
    expect(naps).toEqual(Array.from({ length: chunks.length }, () => 20));
    naps.length = 0;
    await streamed('/chat/completions', chatBody({ max_tokens: 2 }, '[[pace 7]]'));
    expect(new Set(naps)).toEqual(new Set([7]));
  });

  test('an abort ends a stream and a delay at once', async () => {
    const slow = createSandbox({ tokenMs: 60_000 });
    const abort = new AbortController();
    const ask = (prompt: string) =>
      slow(
        new Request('http://sandbox.invalid/v1/chat/completions', {
          method: 'POST',
          body: JSON.stringify(chatBody({ stream: true }, prompt)),
          signal: abort.signal,
        }),
      );
    const reader = (await ask('Hi')).body!.getReader();
    expect((await reader.read()).done).toBe(false);
    const ends = [reader.read(), ask('[[delay 60000]]')].map((end) => end.catch((thrown: Error) => thrown.name));
    setTimeout(() => abort.abort(), 5);
    expect(await Promise.all(ends)).toEqual(['AbortError', 'AbortError']);
  });

  test('a reader that disconnects stops the stream without an error', async () => {
    const slow = createSandbox({ tokenMs: 60_000 });
    const response = await slow(
      new Request('http://sandbox.invalid/v1/completions', {
        method: 'POST',
        body: JSON.stringify({ model: 'sandbox-chat', prompt: 'Hi', stream: true }),
      }),
    );
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    expect((await reader.read()).done).toBe(true);
  });
});

describe('refused requests', () => {
  test.each<[string, object, number, string | null]>([
    ['an unknown model', { model: 'gpt-4o', messages: [user('Hi')] }, 404, 'model'],
    ['no model', { messages: [user('Hi')] }, 400, 'model'],
    ['no messages', { model: 'sandbox-chat' }, 400, 'messages'],
    ['too many choices', chatBody({ n: 129 }), 400, 'n'],
    [
      'an audio file it cannot make',
      chatBody({ modalities: ['text', 'audio'], audio: { voice: 'x', format: 'mp3' } }),
      400,
      'audio.format',
    ],
    ['a tool without a name', chatBody({ tools: [{ type: 'function', function: {} }] }), 400, 'tools[0].function.name'],
  ])('%s', async (_what, body, status, param) => {
    const response = await post('/chat/completions', body);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { param, type: 'invalid_request_error', message: expect.any(String) },
    });
  });

  test('invalid bodies and unknown paths', async () => {
    expect((await post('/chat/completions', {}, { body: 'oops' })).status).toBe(400);
    expect((await post('/embeddings', {})).status).toBe(404);
    expect((await sandbox(new Request('http://sandbox.invalid/v1/chat/completions'))).status).toBe(405);
  });

  test('its models are listed', async () => {
    const list: Body = await (await sandbox(new Request('http://sandbox.invalid/v1/models'))).json();
    expect(list.data.map((model: Body) => model.id)).toEqual([
      'sandbox-chat',
      'sandbox-reasoner',
      'sandbox-image',
      'sandbox-embed',
      'sandbox-rerank',
      'sandbox-speech',
      'sandbox-transcription',
      'sandbox-moderation',
      'sandbox-video',
    ]);
  });
});

describe('output is generated while it is read', () => {
  const LONG = '[[long 999999]]';

  test('and ends at the model’s token limit with finish reason `length`', async () => {
    const { choices, usage } = await chat({}, LONG);
    expect(choices[0].finish_reason).toBe('length');
    expect(usage.completion_tokens).toBe(4096);
    expect((await chat({ max_tokens: 50_000 }, LONG)).usage.completion_tokens).toBe(4096);
    // The choices of a non-streaming response share one limit.
    expect((await chat({ n: 128 }, LONG)).usage.completion_tokens).toBe(65_536);
  });

  test('a stop sequence in later output ends it', async () => {
    const { message, finish_reason } = (await chat({ stop: ['1000 word 1001'] }, '[[long 2000]]')).choices[0];
    expect(finish_reason).toBe('stop');
    expect(message.content).toEndWith('word 999 word ');
  });

  test('reading one piece generates one piece', async () => {
    let paused = 0;
    const counting = createSandbox({
      sleep: async () => {
        paused++;
      },
    });
    const body = JSON.stringify(chatBody({ stream: true }, LONG));
    const request = new Request('http://sandbox.invalid/v1/chat/completions', { method: 'POST', body });
    const reader = (await counting(request)).body!.getReader();
    await reader.read();
    await reader.read();
    await Bun.sleep(20);
    expect(paused).toBe(1);
    await reader.cancel();
  });

  test('a hundred long streams that are not read use almost no memory', async () => {
    const open = async () => {
      const body = JSON.stringify(chatBody({ stream: true }, `${LONG} [[pace 0]]`));
      const request = new Request('http://sandbox.invalid/v1/chat/completions', { method: 'POST', body });
      const reader = (await sandbox(request)).body!.getReader();
      await reader.read();
      return reader;
    };
    await open().then((reader) => reader.cancel());
    Bun.gc(true);
    const before = process.memoryUsage().heapUsed;
    const readers = await Promise.all(Array.from({ length: 100 }, open));
    Bun.gc(true);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
    for (const reader of readers) await reader.cancel();
  });

  test.each([
    ['text', { type: 'string', minLength: 1e9 }],
    ['list', { type: 'array', items: { type: 'integer' }, minItems: 1e9 }],
    ['object', { type: 'object', minProperties: 1e9 }],
  ])('a schema that requires an infinite %s is refused', async (_what, schema) => {
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } };
    expect((await post('/chat/completions', chatBody({ response_format: format }))).status).toBe(400);
  });

  test('input above the context window is refused as by OpenAI', async () => {
    const long = 'word '.repeat(200_000);
    const tooLong = await post('/chat/completions', chatBody({}, long));
    expect(tooLong.status).toBe(400);
    expect(await tooLong.json()).toMatchObject({ error: { code: 'context_length_exceeded', param: 'messages' } });
    expect((await post('/embeddings', { model: 'sandbox-embed', input: long })).status).toBe(400);
    expect((await post('/audio/speech', { model: 'sandbox-speech', voice: 'alloy', input: long })).status).toBe(400);
    const rerank = { model: 'sandbox-rerank', query: 'x', documents: [long, long] };
    expect((await post('/rerank', rerank)).status).toBe(400);
  });
});

test('a video request needs only a model', async () => {
  const made: Body = await (await post('/videos', { model: 'sandbox-video' })).json();
  expect(made).toMatchObject({ object: 'video', status: 'queued', size: '1280x720' });
  expect(made.id).not.toBe(((await (await post('/videos', { model: 'sandbox-video' })).json()) as Body).id);
});
