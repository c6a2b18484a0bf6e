/** Losses of translation in each format: reported in the response, or refused in strict mode. */
import { describe, expect, test } from 'bun:test';
import { PROVIDERS } from '../helpers/provider-answers.ts';
import type { Stage } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const { chat, messages } = PROVIDERS;

const scene = useScene();

const HELLO = [{ role: 'user', content: 'Hi' }];

interface Format {
  path(model: string): string;
  body(model: string): object;
  /** What no provider of another format can express, although the format's own provider could. */
  foreign: typeof chat;
  named: string;
}

const FORMATS: { readonly [client: string]: Format } = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (model) => ({ model, messages: HELLO, seed: 5 }),
    foreign: messages,
    named: 'seed',
  },
  messages: {
    path: () => '/v1/messages',
    body: (model) => ({
      model,
      max_tokens: 50,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
    }),
    foreign: chat,
    named: 'Cache marks',
  },
  gemini: {
    path: (model) => `/v1beta/models/${model}:generateContent`,
    body: () => ({
      contents: [{ role: 'user', parts: [{ text: 'Hi', partMetadata: { a: 1 } }] }],
    }),
    foreign: messages,
    named: 'contents[].parts[].partMetadata',
  },
  responses: {
    path: () => '/v1/responses',
    body: (model) => ({ model, input: 'Hi', max_tool_calls: 3 }),
    foreign: messages,
    named: 'max_tool_calls',
  },
};

async function ask(stage: Stage, format: Format, headers: { [name: string]: string } = {}) {
  const authorization = `Bearer ${stage.caller.key}`;
  const response = await fetch(scene.gateway.url + format.path(stage.model), {
    method: 'POST',
    headers: { authorization, 'anthropic-version': '2023-06-01', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(format.body(stage.model)),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('losses of a request', () => {
  test.each(Object.entries(FORMATS))(
    'are reported, or refused in strict mode, for a client of %s',
    async (_, format) => {
      const { type, upstreamModel } = format.foreign;
      const stage = await scene.stage({ type, upstreamModel });
      stage.script(format.foreign.whole({ texts: ['Hi'] }));
      const response = await ask(stage, format);
      expect(response.status).toBe(200);
      expect(response.headers.get('x-modelport-warnings')).toContain(format.named);

      const refused = await ask(stage, format, { 'x-modelport-strict': 'true' });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain(format.named);
      expect(stage.journal()).toHaveLength(1);
      expect(await stage.settled()).toHaveLength(2);
    },
  );
});

describe('losses of a reply', () => {
  const chatFormat = (stream: boolean): Format => ({
    ...(FORMATS.chat as Format),
    body: (model) => ({ model, messages: HELLO, stream }),
  });

  test('are in a header of a non-streaming response, and in a comment at the end of a stream', async () => {
    const stage = await scene.stage({ type: messages.type, upstreamModel: messages.upstreamModel });
    const recording = 'own/anthropic-messages/web-search';
    stage.script({ fixture: `${recording}.json` }, { fixture: `${recording}-stream.sse.txt` });
    const whole = await ask(stage, chatFormat(false));
    expect(whole.headers.get('x-modelport-warnings')).toContain('`web_search_tool_result` of anthropic-messages');
    const { text } = await ask(stage, chatFormat(true));
    expect(text).toMatch(
      /\n: modelport-warnings: .*`web_search_tool_result` of anthropic-messages.*\n\ndata: \[DONE\]/,
    );
    await stage.settled();
  });
});
