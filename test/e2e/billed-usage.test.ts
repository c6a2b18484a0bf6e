/** If a provider reports no usage, the client gets the billed usage, in every chat format. */
import { describe, expect, test } from 'bun:test';
import { useScene } from '../helpers/scene-hooks.ts';

const scene = useScene({}, { checksEachTest: false });

const TEXT = 'The quick brown fox jumps over the lazy dog.';
const messages = [{ role: 'user', content: 'Say something about foxes.' }];

interface Counts {
  [name: string]: number;
}

interface Payload {
  usage?: Counts | null;
  response?: { usage?: Counts | null };
  usageMetadata?: Counts;
}

/** How a client of each format sends its request, and where it reads the usage. */
const FORMATS: {
  format: string;
  path: (model: string, stream: boolean) => string;
  body: object;
  read: (payload: Payload) => Counts | null | undefined;
  names: readonly [string, string];
}[] = [
  {
    format: 'chat completions',
    path: () => '/v1/chat/completions',
    body: { messages, stream_options: { include_usage: true } },
    read: ({ usage }) => usage,
    names: ['prompt_tokens', 'completion_tokens'],
  },
  {
    format: 'responses',
    path: () => '/v1/responses',
    body: { input: messages[0]?.content },
    read: ({ response, usage }) => usage ?? response?.usage,
    names: ['input_tokens', 'output_tokens'],
  },
  {
    format: 'messages',
    path: () => '/v1/messages',
    body: { messages, max_tokens: 100 },
    read: ({ usage }) => usage,
    names: ['input_tokens', 'output_tokens'],
  },
  {
    format: 'generateContent',
    path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: messages[0]?.content }] }] },
    read: ({ usageMetadata }) => usageMetadata,
    names: ['promptTokenCount', 'candidatesTokenCount'],
  },
];

/** The same reply from providers of chat completions and of Responses, both without usage. */
const PROVIDERS = {
  'openai-compatible': {
    whole: {
      id: 'c',
      object: 'chat.completion',
      created: 7,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
    },
    events: [
      { choices: [{ index: 0, delta: { role: 'assistant', content: TEXT }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ].map((chunk) => ({ id: 'c', object: 'chat.completion.chunk', created: 7, model: 'm', ...chunk })),
  },
  openai: (() => {
    const item = { id: 'm', type: 'message', role: 'assistant', status: 'completed' };
    const content = [{ type: 'output_text', text: TEXT, annotations: [] }];
    const response = { id: 'r', object: 'response', created_at: 7, model: 'm', status: 'completed', usage: null };
    const whole = { ...response, output: [{ ...item, content }] };
    const begun = { ...response, status: 'in_progress', output: [] };
    const events = [
      { type: 'response.created', response: begun },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: TEXT },
      { type: 'response.output_item.done', output_index: 0, item: whole.output[0] },
      { type: 'response.completed', response: whole },
    ];
    return { whole, events };
  })(),
};

describe('the client reads the billed usage:', () => {
  const cases = FORMATS.flatMap((format) => [true, false].map((stream) => ({ ...format, stream })));
  test.each(cases)('$format, stream $stream', async ({ format, path, body, read, names, stream }) => {
    // A provider of Responses gets that format only from a client of it.
    const types =
      format === 'responses' ? (['openai-compatible', 'openai'] as const) : (['openai-compatible'] as const);
    for (const type of types) {
      const stage = await scene.stage({ type });
      const { whole, events } = PROVIDERS[type];
      stage.script(stream ? { events } : { json: whole });
      const response = await fetch(scene.gateway.url + path(stage.model, stream), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${stage.caller.key}`,
          'content-type': 'application/json',
          'anthropic-version': '2023-06-01',
        },
        body: JSON.stringify({ model: stage.model, stream, ...body, ...(!stream && { stream_options: undefined }) }),
      });
      const text = await response.text();
      const payloads = stream
        ? text.split(/\r?\n/).flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
        : [JSON.parse(text)];
      const counts = payloads.map(read).findLast((counts) => counts !== undefined && counts !== null);
      const { usage } = await stage.settledCall();
      expect(usage?.source).toBe('counted');
      expect(names.map((name) => counts?.[name])).toEqual([usage?.input, usage?.output]);
      expect(usage?.output).toBeGreaterThan(0);
    }
  });
});
