import { expect, test } from 'bun:test';
import { quirksOf } from '../dialects/shared/quirks.ts';
import { providerOf } from './index.ts';

const prefillAt = (type: string, model: string) => quirksOf(providerOf(type)?.quirks ?? {}, model).supportsPrefill;

test('Claude models before 4.6 continue a begun reply, newer ones refuse it', () => {
  const before = [
    'claude-3-opus-20240229',
    'claude-3-7-sonnet-20250219',
    'claude-sonnet-4-20250514',
    'claude-opus-4-1',
  ];
  for (const model of [...before, 'claude-opus-4-5-20251101'])
    expect([model, prefillAt('anthropic', model)]).toEqual([model, 'last']);
  for (const model of ['claude-opus-4-6', 'claude-sonnet-4-10', 'claude-opus-5', 'claude-fable-5-1'])
    expect([model, prefillAt('anthropic', model)]).toEqual([model, undefined]);
  expect(prefillAt('bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0')).toBe('last');
  expect(prefillAt('bedrock', 'us.anthropic.claude-sonnet-4-20250514-v1:0')).toBe('last');
  expect(prefillAt('bedrock', 'anthropic.claude-opus-4-6-v1')).toBeUndefined();
  expect(prefillAt('vertex', 'claude-sonnet-4-5@20250929')).toBe('last');
  expect(prefillAt('openrouter', 'anthropic/claude-sonnet-4.5')).toBe('last');
  expect(prefillAt('openrouter', 'anthropic/claude-opus-4.6')).toBeUndefined();
  expect(prefillAt('openai', 'gpt-5')).toBeUndefined();
});

test('DeepSeek continues at an address of its own', () => {
  const deepseek = providerOf('deepseek')!;
  const chat = { kind: 'chat', isPrefilled: true } as never;
  const urlAt = (baseUrl: string, call: never) =>
    deepseek.url({ model: 'deepseek-chat', baseUrl, credential: undefined, settings: {} }, 'openai-chat', call);
  for (const base of ['', '/', '/v1', '/beta'])
    expect(urlAt(`http://deepseek.test${base}`, chat)).toBe('http://deepseek.test/beta/chat/completions');
  expect(urlAt('http://deepseek.test', { kind: 'chat' } as never)).toBe('http://deepseek.test/chat/completions');
  expect(prefillAt('deepseek', 'deepseek-chat')).toBe('marked');
});
