import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Answer, Chunking } from './answer.ts';
import { type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.ts';

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
});
afterAll(() => upstream.close());

const post = (path: string, body: string) => fetch(upstream.url + path, { method: 'POST', body });

describe('the scripted upstream', () => {
  test('answers over HTTP by prefix and in order, and lists its requests', async () => {
    const script: { [prefix: string]: Answer[] } = {
      '/a/': [{ json: 1 }, { status: 418, json: 2 }],
      '/a/b/': [{ text: 'deeper' }],
    };
    await fetch(`${upstream.url}/_script`, { method: 'PUT', body: JSON.stringify(script) });
    expect(await (await post('/a/x', '{"n":1}')).json()).toBe(1);
    expect(await (await post('/a/b/x', 'no json')).text()).toBe('deeper');
    expect((await post('/a/x', '{}')).status).toBe(418);
    expect((await post('/a/x', '{}')).status).toBe(599);
    const journal = (await (await fetch(`${upstream.url}/_journal`)).json()) as object[];
    expect(journal).toMatchObject([
      { method: 'POST', path: '/a/x', body: { n: 1 }, aborted: false },
      { path: '/a/b/x' },
      { path: '/a/x', headers: { 'content-length': '2' } },
      { path: '/a/x' },
    ]);
  });

  test('every splitting and every ending delivers the same bytes', async () => {
    const chunkings: Chunking[] = ['event', 'byte', 'whole', { seed: 1 }];
    const events = [{ text: 'Grüße' }, { text: '日本' }];
    for (const chunking of chunkings) {
      for (const ending of ['chunked', 'length', 'close'] as const) {
        for (const gzip of [true, false]) {
          upstream.script('/same/', { events, chunking, ending, gzip });
          const text = await (await post('/same/x', '')).text();
          expect(text).toBe('data: {"text":"Grüße"}\n\ndata: {"text":"日本"}\n\ndata: [DONE]\n\n');
        }
      }
    }
  });

  test('breaks at the scripted point: between events, within one, within a character', async () => {
    const events = [{ text: 'eins' }, { text: 'zwölf' }];
    for (const [inside, kept] of [
      [undefined, 'data: {"text":"eins"}\n\n'],
      ['event', 'data: {"text":"eins"}\n\ndata: {"text'],
      ['character', 'data: {"text":"eins"}\n\ndata: {"text":"zw'],
    ] as const) {
      upstream.script('/cut/', {
        events,
        fault: { before: 1, does: 'cut', ...(inside && { inside }) },
        ending: 'close',
      });
      const text = await (await post('/cut/x', '')).text();
      expect(text.replace('\ufffd', '')).toStartWith(kept);
    }
    upstream.script('/cut/', { events, fault: { before: 1, does: 'cut' } });
    await expect((await post('/cut/x', '')).text()).rejects.toThrow();
  });
});
