import { describe, expect, test } from 'bun:test';
import { call, NEW, OLD, result, user, write } from '../../../../test/helpers/anthropic-call.ts';
import type { Message, Reasoning } from '../../../canonical/call.ts';
import type { JsonObject } from '../../../canonical/json.ts';

describe('thinking', () => {
  const table: [string, Reasoning, JsonObject | undefined, JsonObject | undefined, number][] = [
    [OLD, { effort: 'none' }, { type: 'disabled' }, undefined, 8192],
    [OLD, { effort: 'minimal' }, { type: 'enabled', budget_tokens: 1024 }, undefined, 9216],
    [OLD, { effort: 'medium' }, { type: 'enabled', budget_tokens: 8192 }, undefined, 16_384],
    [OLD, { effort: 'max' }, { type: 'enabled', budget_tokens: 32_768 }, undefined, 40_960],
    [OLD, { budgetTokens: 3000 }, { type: 'enabled', budget_tokens: 3000 }, undefined, 11_192],
    [NEW, { effort: 'none' }, { type: 'disabled' }, undefined, 8192],
    [NEW, { effort: 'minimal' }, { type: 'adaptive', display: 'summarized' }, { effort: 'low' }, 8192],
    [NEW, { effort: 'xhigh' }, { type: 'adaptive', display: 'summarized' }, { effort: 'xhigh' }, 8192],
    [NEW, { budgetTokens: 5000 }, { type: 'adaptive', display: 'summarized' }, { effort: 'medium' }, 8192],
    [NEW, { adaptive: true, summary: 'none' }, { type: 'adaptive', display: 'omitted' }, undefined, 8192],
    [NEW, { summary: 'auto' }, undefined, undefined, 8192],
    ['claude-opus-4-6', { effort: 'xhigh' }, { type: 'adaptive' }, { effort: 'high' }, 8192],
    ['claude-opus-4-6', { budgetTokens: 2000 }, { type: 'enabled', budget_tokens: 2000 }, undefined, 10_192],
    ['claude-3-haiku-20240307', { effort: 'high' }, undefined, undefined, 4096],
  ];

  test.each(table)('%s: %o', (model, reasoning, thinking, output, maxTokens) => {
    const { body } = write({ reasoning }, model);
    expect(body.thinking).toEqual(thinking as JsonObject);
    expect(body.output_config).toEqual(output as JsonObject);
    expect(body.max_tokens).toBe(maxTokens);
  });

  test('has a budget below the token limit, or is left out', () => {
    expect(write({ reasoning: { effort: 'high' }, maxOutputTokens: 2000 }).body.thinking).toEqual({
      type: 'enabled',
      budget_tokens: 1999,
    });
    const small = write({ reasoning: { effort: 'high' }, maxOutputTokens: 500 });
    expect(small.body.thinking).toBeUndefined();
    expect(small.body.max_tokens).toBe(500);
    expect(small.warnings).toContain('Thinking was turned off');
  });

  test('is left out while tool calls that were made without it are open', () => {
    const messages: Message[] = [
      user('Go.'),
      { role: 'assistant', parts: [call('a')] },
      { role: 'tool', parts: [result('a', 'ok')] },
    ];
    const { body, warnings } = write({ messages, reasoning: { effort: 'low' } });
    expect(body.thinking).toBeUndefined();
    expect(warnings).toContain('open tool calls');
    expect(write({ messages, reasoning: { effort: 'low' } }, NEW).body.thinking).toBeDefined();
  });
});
