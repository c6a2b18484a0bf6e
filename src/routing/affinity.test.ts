import { describe, expect, test } from 'bun:test';
import type { ChatCall } from '../canonical/call.ts';
import { affinityKey, createAffinity, replyKey } from './affinity.ts';

const text = (words: string) => [{ type: 'text' as const, text: words }];

function chat(more: Partial<ChatCall> = {}, dialect = 'openai-chat'): ChatCall {
  return {
    kind: 'chat',
    model: 'm',
    stream: false,
    origin: { dialect, body: new Uint8Array() },
    extras: {},
    headers: {},
    messages: [
      { role: 'system', parts: text('You are a pirate.') },
      { role: 'user', parts: text('Hello') },
    ],
    tools: [],
    sampling: {},
    wantsUsage: false,
    ...more,
  };
}

const turn = chat().messages;
const headers = (all: { [name: string]: string }) => ({ get: (name: string) => all[name] });

describe('the key of a conversation', () => {
  test('stays the same from turn to turn', () => {
    const later = chat({
      messages: [...turn, { role: 'assistant', parts: text('Ahoy') }, { role: 'user', parts: text('And now?') }],
    });
    expect(affinityKey(later, 'a', undefined)).toBe(affinityKey(chat(), 'a', undefined)!);
  });

  test('differs by account, model, system prompt, tools and first message', () => {
    const others = [
      affinityKey(chat(), 'b', undefined),
      affinityKey(chat({ model: 'n' }), 'a', undefined),
      affinityKey(chat({ messages: [{ role: 'system', parts: text('You are a poet.') }, turn[1]!] }), 'a', undefined),
      affinityKey(chat({ messages: [turn[0]!, { role: 'user', parts: text('Good day') }] }), 'a', undefined),
      affinityKey(chat({ tools: [{ type: 'function', name: 'look' }] }), 'a', undefined),
    ];
    expect(new Set([affinityKey(chat(), 'a', undefined), ...others]).size).toBe(6);
  });

  for (const name of ['x-session-id', 'x-claude-code-session-id', 'session_id', 'conversation_id']) {
    test(`is the session that the header ${name} names`, () => {
      const named = headers({ [name]: 's1' });
      expect(affinityKey(chat(), 'a', named)).toBe('a\nm\ns1');
    });
  }

  test('is named in the body: a cache key, the previous response, the user of Anthropic’s format', () => {
    expect(affinityKey(chat({ cacheKey: 'c' }), 'a', headers({}))).toBe('a\nm\nc');
    const thread = { store: true, previous: 'resp_1', references: [], truncation: 'auto' as const, items: [] };
    expect(affinityKey(chat({ thread }), 'a', undefined)).toBe('a\nm\nresp_1');
    expect(affinityKey(chat({ user: 'u_session_1' }, 'anthropic-messages'), 'a', undefined)).toBe('a\nm\nu_session_1');
    // In other formats it is a person with many conversations.
    expect(affinityKey(chat({ user: 'u' }), 'a', undefined)).toContain('#');
  });

  test('a stored response identifies the conversation that continues it', () => {
    const thread = { store: true, references: [], truncation: 'auto' as const, items: [], replyId: 'resp_2' };
    expect(replyKey(chat({ thread }), 'a')).toBe('a\nm\nresp_2');
    expect(affinityKey(chat({ thread: { ...thread, previous: 'resp_2' } }), 'a', undefined)).toBe('a\nm\nresp_2');
  });
});

describe('bindings', () => {
  test('last half an hour from their last use', () => {
    const affinity = createAffinity();
    affinity.bind('k', 't', 0);
    expect(affinity.find('k', 1_799_999)).toBe('t');
    affinity.bind('k', 't', 1_000_000);
    expect(affinity.find('k', 2_799_999)).toBe('t');
    expect(affinity.find('k', 2_800_000)).toBeUndefined();
    expect(affinity.size).toBe(0);
  });

  test('a failure of the bound target removes the binding, one of another target does not', () => {
    const affinity = createAffinity();
    affinity.bind('k', 't', 0);
    affinity.drop('k', 'other');
    expect(affinity.find('k', 1)).toBe('t');
    affinity.drop('k', 't');
    expect(affinity.find('k', 1)).toBeUndefined();
  });

  test('are bounded: the least recently used one is removed', () => {
    const affinity = createAffinity(3);
    for (const key of ['a', 'b', 'c']) affinity.bind(key, 't', 0);
    affinity.bind('a', 't', 1);
    affinity.bind('d', 't', 2);
    expect(affinity.size).toBe(3);
    expect(['a', 'b', 'c', 'd'].map((key) => affinity.find(key, 3))).toEqual(['t', undefined, 't', 't']);
  });
});
