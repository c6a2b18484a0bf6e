import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import type { ChatCall } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import { addEvent, emptyReply, type ReplyEvent } from '../../../canonical/reply.ts';
import { gemini } from './gemini.ts';

const SSE = 'text/event-stream';
const JSON_TYPE = 'application/json';

function answer(parts: JsonObject[], more: JsonObject = {}, beside: JsonObject = {}): JsonObject {
  return { candidates: [{ content: { role: 'model', parts }, index: 0, ...more }], ...beside };
}
const STOP = { finishReason: 'STOP' };
const USAGE = {
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 4,
    thoughtsTokenCount: 3,
    toolUsePromptTokenCount: 5,
    totalTokenCount: 22,
  },
};

function framesOf(text: string, call: ChatCall, contentType: string) {
  const reader = gemini.reader(call, contentType, {});
  return [...reader.read(new TextEncoder().encode(text)), ...reader.end()];
}

function sse(answers: readonly JsonObject[]): string {
  return answers.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join('');
}

function streamed(answers: readonly JsonObject[], call = chatCall()): ReplyEvent[] {
  return framesOf(sse(answers), call, SSE).flatMap((frame) => frame.events);
}

function replyOf(events: readonly ReplyEvent[]) {
  const reply = emptyReply();
  for (const event of events) addEvent(reply, event);
  return reply;
}

const partsOf = (answers: readonly JsonObject[], call?: ChatCall) => replyOf(streamed(answers, call)).choices[0]?.parts;

describe('usage of a stream', () => {
  const report = (figures: JsonObject) => ({ usageMetadata: figures });
  const usageOf = (answers: readonly JsonObject[]) => replyOf(streamed(answers)).usage;

  test('the last report counts: members that it omits are not taken from an earlier one', () => {
    const earlier = report({ promptTokenCount: 10, candidatesTokenCount: 4000, totalTokenCount: 4010 });
    const last = report({ promptTokenCount: 10, thoughtsTokenCount: 3, totalTokenCount: 13 });
    const answers = [answer([{ text: 'Hel' }], {}, earlier), answer([{ text: 'lo' }], STOP, last)];
    expect(usageOf(answers)).toEqual({ input: 10, output: 3, reasoning: 3, source: 'reported' });
  });

  test.each([Number.POSITIVE_INFINITY, -4, 0.5, '7'])(
    'a last report of %p tokens is invalid: the one before stays, marked as partial',
    (wrong) => {
      const earlier = report({ promptTokenCount: 10, candidatesTokenCount: 4 });
      const text = sse([
        answer([{ text: 'Hel' }], {}, earlier),
        answer([{ text: 'lo' }], STOP, report({ promptTokenCount: 10, candidatesTokenCount: 'wrong' })),
      ]).replace('"wrong"', wrong === Number.POSITIVE_INFINITY ? '1e999' : JSON.stringify(wrong));
      const events = framesOf(text, chatCall(), SSE).flatMap((frame) => frame.events);
      expect(replyOf(events).usage).toEqual({ input: 10, output: 4, source: 'partial' });
    },
  );
});

describe('signatures', () => {
  test('on a tool call', () => {
    const call = { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' };
    expect(partsOf([answer([call], STOP)])).toEqual([
      {
        opens: { type: 'tool-call', id: expect.stringMatching(/^call_[0-9a-f]{24}$/), name: 'f' },
        content: '{"a":1}',
        signature: { dialect: 'gemini', value: 'c2ln' },
      },
    ]);
  });

  test('on an empty text at the end belong to the last text', () => {
    const answers = [
      answer([{ text: 'Hel' }]),
      answer([{ text: 'lo' }]),
      answer([{ text: '', thoughtSignature: 'c2ln' }], STOP),
    ];
    expect(partsOf(answers)).toEqual([
      { opens: { type: 'text' }, content: 'Hello', signature: { dialect: 'gemini', value: 'c2ln' } },
    ]);
  });

  test('on the first piece of a text that continues', () => {
    const answers = [
      answer([{ text: 'Hm.', thought: true }]),
      answer([{ text: 'Hel', thoughtSignature: 'c2ln' }]),
      answer([{ text: 'lo' }], STOP),
    ];
    expect(partsOf(answers)).toEqual([
      { opens: { type: 'reasoning' }, content: 'Hm.' },
      { opens: { type: 'text' }, content: 'Hello', signature: { dialect: 'gemini', value: 'c2ln' } },
    ]);
  });
});

describe('tool calls', () => {
  test('without ids get unique ids, the same every time', () => {
    const call = { functionCall: { name: 'f' } };
    const ids = () => (partsOf([answer([call, call], STOP)]) ?? []).map(({ opens }) => ('id' in opens ? opens.id : ''));
    expect(new Set(ids()).size).toBe(2);
    expect(ids()).toEqual(ids());
    const later = chatCall({ messages: [...chatCall().messages, ...chatCall().messages] });
    const [other] = partsOf([answer([call], STOP)], later) ?? [];
    expect(ids()).not.toContain(other && 'id' in other.opens ? other.opens.id : '');
  });

  test('end the reply as tool-calls although the provider reports STOP; missing `args` are an empty object', () => {
    const reply = replyOf(streamed([answer([{ functionCall: { name: 'f' } }], STOP)]));
    expect(reply.choices[0]?.finish).toEqual({ reason: 'tool-calls', raw: 'STOP' });
    expect(reply.choices[0]?.parts[0]?.content).toBe('{}');
  });

  test('that are broken do not end the reply as tool-calls', () => {
    const reply = replyOf(streamed([answer([], { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Oh.' })]));
    expect(reply.choices[0]?.finish).toEqual({
      reason: 'broken-call',
      raw: 'MALFORMED_FUNCTION_CALL',
      explanation: 'Oh.',
    });
  });

  test('may arrive in pieces', () => {
    const piece = (jsonPath: string, value: JsonObject) =>
      answer([{ functionCall: { partialArgs: [{ jsonPath, ...value }], willContinue: true } }]);
    const answers = [
      answer([{ functionCall: { name: 'f', willContinue: true } }]),
      piece('$.items[0].name', { stringValue: 'ap', willContinue: true }),
      piece('$.items[0].name', { stringValue: 'ple' }),
      piece('$.items[1]', { numberValue: 2 }),
      answer([{ functionCall: {} }], STOP),
    ];
    expect(partsOf(answers)?.[0]?.content).toBe('{"items":[{"name":"apple"},2]}');
  });

  test("of tools whose names were changed return with the client's names", () => {
    const call = chatCall({
      tools: [
        { type: 'function', name: 'my tool' },
        { type: 'custom', name: 'patch' },
      ],
    });
    const written = JSON.parse(new TextDecoder().decode(gemini.writeCall(call, 'gemini-2.5-pro', {}).body));
    const [first, second] = written.tools[0].functionDeclarations.map(
      (declaration: { name: string }) => declaration.name,
    );
    expect(first).toMatch(/^_my_tool_[0-9a-f]{8}$/);
    const parts = partsOf(
      [
        answer(
          [
            { functionCall: { name: first, args: {} } },
            { functionCall: { name: second, args: { input: '*** patch' } } },
          ],
          STOP,
        ),
      ],
      call,
    );
    expect(parts?.map(({ opens, content }) => [opens, content])).toEqual([
      [{ type: 'tool-call', id: expect.any(String), name: 'my tool' }, '{}'],
      [{ type: 'tool-call', id: expect.any(String), name: 'patch', custom: true }, '*** patch'],
    ]);
  });
});

test('usage: tool-use prompts are input, thoughts are output', () => {
  const events = streamed([
    answer([{ text: 'Hi' }], {}, { usageMetadata: { promptTokenCount: 10 } }),
    answer([{ text: '!' }], STOP, USAGE),
  ]);
  const usages = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
  expect(usages).toEqual([
    { input: 10, output: 0, source: 'partial' },
    { input: 15, output: 7, reasoning: 3, source: 'reported' },
  ]);
});

test('several candidates are several choices', () => {
  const candidate = (index: number, text: string, finishReason?: string) => ({
    index,
    content: { parts: [{ text }] },
    ...(finishReason && { finishReason }),
  });
  const reply = replyOf(
    streamed([
      { candidates: [candidate(0, 'a'), candidate(1, 'b')] },
      { candidates: [candidate(1, 'B', 'MAX_TOKENS')] },
      { candidates: [candidate(0, 'A', 'STOP')] },
    ]),
  );
  expect(reply.choices.map(({ parts, finish }) => [parts[0]?.content, finish?.reason])).toEqual([
    ['aA', 'stop'],
    ['bB', 'length'],
  ]);
});

test('a blocked prompt is an empty, filtered reply', () => {
  const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'No.' } };
  for (const contentType of [SSE, JSON_TYPE]) {
    const stream = contentType === SSE;
    const text = stream ? sse([blocked]) : JSON.stringify(blocked);
    const events = framesOf(text, chatCall({ stream }), contentType).flatMap((frame) => frame.events);
    expect(events.slice(1)).toEqual([
      {
        type: 'choice-end',
        choice: 0,
        finish: { reason: 'content-filter', raw: 'PROHIBITED_CONTENT', explanation: 'No.' },
      },
      { type: 'reply-end' },
    ]);
  }
});

test('sources: bytes become code points, in the text that contains the quote', () => {
  const text = '😀 Über: Paris.';
  const startIndex = Buffer.byteLength('😀 Über: ');
  const grounding = {
    groundingMetadata: {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
      groundingSupports: [
        { segment: { startIndex, endIndex: startIndex + 6, text: 'Paris.' }, groundingChunkIndices: [0, 9] },
      ],
      webSearchQueries: ['paris'],
    },
  };
  const reply = replyOf(
    streamed([answer([{ text: '😀 Über' }]), answer([{ text: ': Paris.' }], { ...STOP, ...grounding }, USAGE)]),
  );
  const [citation, ...others] = reply.choices[0]?.parts[0]?.citations ?? [];
  expect(others).toEqual([]);
  expect(citation).toMatchObject({ url: 'https://a.example', title: 'A' });
  expect([...text].slice(citation?.start, citation?.end).join('')).toBe('Paris.');
  expect(reply.usage?.serverToolCalls).toBe(1);
});

test('images and speech; speech in pieces is one part', () => {
  const piece = (bytes: number[]) => ({
    inlineData: { mimeType: 'audio/L16;rate=24000', data: Buffer.from(bytes).toString('base64') },
  });
  const reply = replyOf(
    streamed([
      answer([{ inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: 'c2ln' }, piece([1, 2, 3, 4])]),
      answer([piece([5, 6])], STOP, USAGE),
    ]),
  );
  const [image, audio] = reply.choices[0]?.parts ?? [];
  expect(image).toEqual({
    opens: { type: 'image', mimeType: 'image/png' },
    content: 'AAAA',
    signature: { dialect: 'gemini', value: 'c2ln' },
  });
  expect(audio?.opens).toMatchObject({ type: 'audio', mimeType: 'audio/L16;rate=24000' });
  expect([...Buffer.from(audio?.content ?? '', 'base64')]).toEqual([1, 2, 3, 4, 5, 6]);
  expect(reply.usage?.images).toBe(1);
});

test('log probabilities are one list of tokens', () => {
  const logprobsResult = {
    chosenCandidates: [{ token: 'é', logProbability: -0.1 }],
    topCandidates: [{ candidates: [{ token: 'é', logProbability: -0.1 }] }],
  };
  const token = { token: 'é', logprob: -0.1, bytes: [195, 169] };
  expect(partsOf([answer([{ text: 'é' }], { ...STOP, logprobsResult })])?.[0]?.logprobs).toEqual([
    { ...token, top_logprobs: [token] },
  ]);
});

describe('incomplete replies', () => {
  const codeOf = (text: string, contentType = SSE): string | undefined => {
    const last = framesOf(text, chatCall(), contentType)
      .flatMap((frame) => frame.events)
      .at(-1);
    return last?.type === 'error' ? last.error.code : last?.type;
  };

  test.each([
    ['no finish', sse([answer([{ text: 'Hi' }])]), 'upstream_failed'],
    [
      'an error as an event',
      sse([answer([{ text: 'Hi' }]), { error: { code: 503, message: 'Busy', status: 'UNAVAILABLE' } }]),
      'upstream_failed',
    ],
    [
      'an error without an envelope',
      `${sse([answer([{ text: 'Hi' }], STOP)])}{\n "error": {"code": 429, "message": "quota"}\n}\n`,
      'rate_limited',
    ],
    ['no JSON', 'data: {"candidates"\n\n', 'upstream_failed'],
    ['nothing', '', 'upstream_failed'],
  ])('%s', (_, text, code) => {
    expect(codeOf(text)).toBe(code);
  });

  test.each([
    [
      'an array without its last element’s end',
      `[${JSON.stringify(answer([{ text: 'a' }]))},{"candidates":[`,
      'upstream_failed',
    ],
    ['an error in an array', '[{"error":{"code":500,"message":"x"}}]', 'upstream_failed'],
    ['an array that is whole', `[${JSON.stringify(answer([{ text: 'a' }], STOP))}\n]`, 'reply-end'],
  ])('%s', (_, text, code) => {
    expect(codeOf(text, JSON_TYPE)).toBe(code);
  });
});

test('the last chunk waits for the end of the reply; STOP in every chunk ends nothing', () => {
  const reader = gemini.reader(chatCall(), SSE, {});
  const read = (...answers: JsonObject[]) => reader.read(new TextEncoder().encode(sse(answers)));
  expect(read(answer([{ text: 'a' }], STOP))).toEqual([]);
  expect(read(answer([{ text: 'b' }], STOP)).length).toBe(1);
  const [last, ...others] = reader.end();
  expect(others).toEqual([]);
  expect(last?.events.at(-1)).toEqual({ type: 'reply-end' });
  expect(last?.bytes.length).toBeGreaterThan(0);
});

test('chunks without blank lines between them are read', () => {
  const lines = [answer([{ text: 'a' }]), answer([{ text: 'b' }], STOP)]
    .map((one) => `data: ${JSON.stringify(one)}\n`)
    .join('');
  const events = framesOf(lines, chatCall(), SSE).flatMap((frame) => frame.events);
  expect(replyOf(events).choices[0]?.parts[0]?.content).toBe('ab');
});

describe('a reply without a finish reason', () => {
  const lastAnswer = answer([{ text: 'Hello.' }], {}, USAGE);
  const ends = [
    { type: 'choice-end', choice: 0, finish: { reason: 'other', raw: 'FINISH_REASON_UNSPECIFIED' } },
    { type: 'usage', usage: expect.objectContaining({ input: 15, output: 7 }) },
    { type: 'reply-end' },
  ];
  const eventsOf = (text: string, call: ChatCall, contentType: string) =>
    framesOf(text, call, contentType).flatMap((frame) => frame.events);

  test('is complete if its JSON is', () => {
    const events = eventsOf(JSON.stringify(lastAnswer), chatCall({ stream: false }), JSON_TYPE);
    expect(events.slice(-3)).toMatchObject(ends);
    const list = eventsOf(JSON.stringify([answer([{ text: 'Well, ' }]), lastAnswer]), chatCall(), JSON_TYPE);
    expect(list.slice(-3)).toMatchObject(ends);
  });

  test('is broken if nothing shows that it is complete', () => {
    const open = JSON.stringify([answer([{ text: 'Well, ' }]), lastAnswer]).slice(0, -1);
    expect(eventsOf(open, chatCall(), JSON_TYPE).at(-1)?.type).toBe('error');
    expect(streamed([lastAnswer]).at(-1)?.type).toBe('error');
    const silent = answer([], {}, USAGE);
    expect(eventsOf(JSON.stringify(silent), chatCall({ stream: false }), JSON_TYPE).at(-1)?.type).toBe('error');
  });
});
