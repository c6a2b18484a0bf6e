/** `continuation: prefill` from outside: a stream that is cut goes on at the next target, in every format of clients. */
import { expect, test } from 'bun:test';
import { chatRequest, streamAnswer, USED } from '../helpers/chat-answers.ts';
import { nanoOf } from '../helpers/scene.ts';
import { useScene } from '../helpers/scene-hooks.ts';

const scene = useScene();

const WORDS = Array.from({ length: 12 }, (_, at) => `word${at} `);
/** Of the words six come: before them there is an event with the role. */
const CUT_AT = 7;
const DELIVERED = WORDS.slice(0, CUT_AT - 1).join('');

const REQUESTS = [
  ['/v1/chat/completions', (model: string) => chatRequest(model, { stream: true })],
  ['/v1/messages', (model: string) => ({ ...chatRequest(model, { stream: true }), max_tokens: 500 })],
  ['/v1/responses', (model: string) => ({ model, input: 'Say hello.', stream: true })],
  [
    '/v1beta/models/MODEL:streamGenerateContent?alt=sse',
    () => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }),
  ],
] as const;

for (const [path, request] of REQUESTS) {
  for (const does of ['cut', 'reset'] as const) {
    test(`${path}, ${does}: all words once, and the charge of both parts`, async () => {
      const members = { continuation: 'prefill' };
      const stage = await scene.stage({ type: 'mistral', targets: 2, members });
      stage.script(streamAnswer(WORDS, { fault: { before: CUT_AT, does } }));
      // It repeats what it was sent.
      stage.scriptTarget(1, streamAnswer([DELIVERED.trimEnd(), ' ', ...WORDS.slice(CUT_AT - 1)]));
      const response = await fetch(`${scene.gateway.url}${path.replace('MODEL', stage.model)}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${stage.caller.key}`,
          'content-type': 'application/json',
          'anthropic-version': '2023-06-01',
        },
        body: JSON.stringify(request(stage.model)),
      });
      const text = await response.text();
      expect([response.status, text.includes('"error":{')]).toEqual([200, false]);
      expect(deltasIn(text)).toBe(WORDS.join(''));
      const [, second] = stage.journal();
      const messages = second?.body?.messages as object[];
      expect(messages.at(-1)).toMatchObject({ role: 'assistant', content: DELIVERED.trimEnd(), prefix: true });
      expect(second?.path).toContain('/t1/');
      const call = await stage.settledCall();
      expect([call.outcome, call.attempts]).toEqual(['ok', 2]);
      const { input = 0, output = 0 } = call.usage ?? {};
      expect(output).toBeGreaterThan(USED.output);
      expect(input).toBeGreaterThan(USED.input);
      expect(nanoOf(call.cost)).toBe(BigInt(input) * 1000n + BigInt(output) * 4000n);
    });
  }
}

/** The text of a stream in any format. */
function deltasIn(stream: string): string {
  const lines = stream.split('\n').filter((line) => line.startsWith('data: {'));
  const texts = lines.map((line) => {
    const event = JSON.parse(line.slice('data: '.length));
    const parts: { text?: string }[] = event.candidates?.[0]?.content?.parts ?? [];
    const own = event.choices?.[0]?.delta?.content ?? event.delta?.text;
    return own ?? (typeof event.delta === 'string' ? event.delta : parts.map(({ text }) => text ?? '').join(''));
  });
  return texts.join('');
}
