/** The official library directly with the replayer. What works here must work through the gateway. */
import { describe, expect, test } from 'bun:test';
import { type ClientView, startOpenaiClient } from '../clients/openai-client.ts';
import { hasFixtures, recordedCases } from '../helpers/fixtures.ts';
import { useClient, useUpstream } from '../helpers/scene-hooks.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { CHUNKINGS } from '../upstream/answer.ts';
import type { ScriptedUpstream } from '../upstream/scripted-upstream.ts';

const upstream = useUpstream();
const client = useClient(() => startOpenaiClient());
let last = 0;

const request = {
  model: 'any',
  messages: [{ role: 'user', content: 'Hello' }],
  stream_options: { include_usage: true },
};

async function direct(way: 'chat' | 'stream' | 'helper', answer: Parameters<ScriptedUpstream['script']>[1]) {
  const prefix = `/${++last}`;
  upstream.script(prefix, answer);
  const view = await client.run({ way, baseURL: `${upstream.url}${prefix}/v1`, apiKey: 'sk-fake', request });
  expect(upstream.journal(`${prefix}/`)).toHaveLength(1);
  return view;
}

/** The manifest's word for a view. */
function verdict(view: ClientView, way: string): string {
  if (view.error) return 'FAIL';
  return way === 'stream' ? `ok:${view.chunks}` : `ok:${view.choices[0]?.finish ?? ''}`;
}

const expected = (verdict: string | undefined) => verdict?.replace(/ chunks$/, '').replace(/^FAIL.*/s, 'FAIL');

describe.skipIf(!hasFixtures)('the openai library directly with the replayer', () => {
  const chat = recordedCases('openai-chat').filter((recorded) => recorded.native_sdk);

  test('every non-streaming recording is read as in the manifest', async () => {
    const whole = chat.filter((recording) => !recording.stream);
    expect(whole.length).toBeGreaterThan(100);
    await sideBySide(
      whole,
      (recorded) => recorded.file,
      async (recorded) => {
        const view = await direct('chat', { fixture: recorded.file });
        expect(verdict(view, 'chat')).toBe(expected(recorded.native_sdk?.raw) ?? '');
      },
    );
  }, 60_000);

  for (const chunking of CHUNKINGS) {
    test(`every recorded stream is read as in the manifest, split by ${JSON.stringify(chunking)}`, async () => {
      await sideBySide(
        chat.filter(({ stream }) => stream),
        (recorded) => recorded.file,
        async (recorded) => {
          for (const way of ['stream', 'helper'] as const) {
            const view = await direct(way, { fixture: recorded.file, chunking });
            const recordedVerdict = way === 'stream' ? recorded.native_sdk?.raw : recorded.native_sdk?.helper;
            expect(verdict(view, way)).toBe(expected(recordedVerdict) ?? '');
          }
        },
      );
    }, 60_000);
  }
});

describe('faults of the scripted upstream as the library sees them', () => {
  const events = [0, 1, 2].map((index) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'any',
    choices: [{ index: 0, delta: { role: 'assistant', content: `Grüße ${index} 日本` }, finish_reason: null }],
  }));

  test('a cut inside a character is an error, not a complete answer', async () => {
    const view = await direct('stream', { events, fault: { before: 1, inside: 'character', does: 'cut' } });
    expect(view.error).toBeDefined();
    expect(view.chunks).toBe(1);
  });

  test('a reset before the headers is a connection error', async () => {
    const view = await direct('stream', { events, fault: { before: 'headers', does: 'reset' } });
    expect(view.error?.class).toBe('APIConnectionError');
  });

  test('a peer that closes a silent stream is recorded as aborted', async () => {
    const prefix = `/${++last}`;
    upstream.script(prefix, { events, fault: { before: 2, does: 'silence' } });
    const baseURL = `${upstream.url}${prefix}/v1`;
    const view = await client.run({ way: 'stream', baseURL, apiKey: 'sk-fake', request, abortAfter: 2 });
    expect(view.choices[0]?.text).toBe('Grüße 0 日本Grüße 1 日本');
    const ended = () => upstream.journal(prefix)[0]?.endedMs !== undefined;
    for (const end = performance.now() + 20_000; !ended() && performance.now() < end; ) await Bun.sleep(10);
    expect(upstream.journal(prefix)[0]?.aborted).toBe(true);
  });

  test('gzip and garbage arrive as scripted', async () => {
    expect((await direct('stream', { events, gzip: true, chunking: { seed: 7 } })).chunks).toBe(3);
    expect(
      (await direct('stream', { events, withoutTerminator: true, garbage: 'data: {oops\n\n' })).error,
    ).toBeDefined();
  });
});
