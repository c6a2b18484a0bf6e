import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../test/chat-call.ts';
import type { ChatCall, Message } from '../../canonical/call.ts';
import { patches } from './patches.ts';

const OLD = 'claude-sonnet-4-0';
const NEW = 'claude-opus-5';

describe("a client's own request", () => {
  const seal = { dialect: 'gemini', value: 'x' };
  function patched(members: Partial<ChatCall>, model: string, body: object = {}) {
    const origin = { dialect: 'anthropic-messages', body: new TextEncoder().encode(JSON.stringify(body)) };
    return patches(chatCall({ origin, ...members }), model, {});
  }

  test('is left alone where nothing must change', () => {
    expect(patched({ sampling: { temperature: 0.5 }, maxOutputTokens: 10 }, 'public-model')).toEqual({
      members: {},
      warnings: [],
    });
  });

  test('loses what the model or the version refuses', () => {
    const sampling = { temperature: 0.5, topK: 2 };
    expect(patched({ sampling }, NEW).members).toEqual({ model: NEW, temperature: undefined, top_k: undefined });
    const versioned = patched({ sampling, headers: { 'anthropic-version': '2026-10-21' } }, OLD);
    expect(Object.keys(versioned.members)).toEqual(['model', 'temperature', 'top_k']);
    expect(versioned.warnings.length).toBe(2);
    const thinking = patched({ reasoning: { budgetTokens: 2000 }, maxOutputTokens: 9999 }, NEW);
    expect(thinking.members.thinking).toEqual({ type: 'adaptive', display: 'summarized' });
    expect(patched({ maxOutputTokens: 128_000 }, OLD).members.max_tokens).toBe(64_000);
  });

  test('loses thinking that another vendor has signed', () => {
    const foreign = { type: 'thinking', thinking: 'Hm.', signature: '' };
    const own = { type: 'thinking', thinking: 'Ah.', signature: 'sig' };
    const words = { type: 'text', text: 'So.' };
    const body = {
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content: [foreign, own, words] },
      ],
    };
    const messages: Message[] = [
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'reasoning', text: '', seal },
        ],
      },
    ];
    const { members, warnings } = patched({ messages }, 'public-model', body);
    expect(members.messages).toEqual([
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: [own, words] },
    ]);
    expect(warnings.length).toBe(1);
  });
});
