import { describe, expect, test } from 'bun:test';
import { chatCall } from '../../../../test/helpers/chat-call.ts';
import type { ChatCall, Message } from '../../../canonical/call.ts';
import { passCall } from './pass-call.ts';

const OLD = 'claude-sonnet-4-0';
const NEW = 'claude-opus-5';

describe("a client's own request", () => {
  const signature = { dialect: 'gemini', value: 'x' };
  function passed(members: Partial<ChatCall>, model: string, sent: object = {}) {
    const origin = { dialect: 'anthropic-messages', body: new TextEncoder().encode(JSON.stringify(sent)) };
    const { body, warnings } = passCall(chatCall({ origin, ...members }), model, {});
    return { body: JSON.parse(new TextDecoder().decode(body)), warnings };
  }

  test('is unchanged if nothing needs a change', () => {
    const sent = { temperature: 0.5, max_tokens: 10 };
    expect(passed({ sampling: { temperature: 0.5 }, maxOutputTokens: 10 }, 'public-model', sent)).toEqual({
      body: sent,
      warnings: [],
    });
  });

  test('loses what the model or the version rejects', () => {
    const sampling = { temperature: 0.5, topK: 2 };
    const sent = { temperature: 0.5, top_k: 2 };
    expect(passed({ sampling }, NEW, sent).body).toEqual({ model: NEW });
    const versioned = passed({ sampling, headers: { 'anthropic-version': '2026-10-21' } }, OLD, sent);
    expect([versioned.body, versioned.warnings.length]).toEqual([{ model: OLD }, 2]);
    const thinking = passed({ reasoning: { budgetTokens: 2000 }, maxOutputTokens: 9999 }, NEW, {
      thinking: { type: 'enabled', budget_tokens: 2000 },
    });
    expect(thinking.body.thinking).toEqual({ type: 'adaptive', display: 'summarized' });
    expect(passed({ maxOutputTokens: 128_000 }, OLD, { max_tokens: 128_000 }).body.max_tokens).toBe(64_000);
  });

  test('loses thinking that another provider signed', () => {
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
          { type: 'reasoning', text: '', signature },
        ],
      },
    ];
    const { body: sent, warnings } = passed({ messages }, 'public-model', body);
    expect(sent.messages).toEqual([
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: [own, words] },
    ]);
    expect(warnings.length).toBe(1);
  });
});
