import { expect, test } from 'bun:test';
import { fc } from '../../test/helpers/property.ts';
import { ModelNames, targetModelFor } from './names.ts';

const model = (name: string, aliases?: string[]) => ({ name, ...(aliases && { aliases }) });
const names = new ModelNames([
  model('claude-*'),
  model('claude-sonnet-*'),
  model('claude-sonnet-4', ['best', 'gpt-4o']),
  model('gpt-4o', ['claude-opus-4']),
  model('openai/*'),
]);
const found = (name: string) => {
  const one = names.find(name);
  return one && (one.rest === undefined ? one.model.name : [one.model.name, one.rest]);
};

test.each([
  ['an exact name before an alias', 'gpt-4o', 'gpt-4o'],
  ['an exact name before a wildcard', 'claude-sonnet-4', 'claude-sonnet-4'],
  ['an alias', 'best', 'claude-sonnet-4'],
  ['an alias before a wildcard', 'claude-opus-4', 'gpt-4o'],
  ['the longest wildcard', 'claude-sonnet-5', ['claude-sonnet-*', '5']],
  ['a shorter one', 'claude-haiku', ['claude-*', 'haiku']],
  ['one with a provider before it', 'openai/gpt-5', ['openai/*', 'gpt-5']],
])('%s is found', (_, name, expected) => {
  expect(found(name)).toEqual(expected);
});

test.each([
  'claude-',
  'openai/',
  'openai/*',
  'claude-*',
  'Claude-haiku',
  'openai/../admin',
  'openai/a//b',
  'openai/a?b',
  'openai/a b',
  'openai/a%2f',
  `claude-${'x'.repeat(200)}`,
])('no model is called %s', (name) => {
  expect(found(name)).toBeUndefined();
});

test('what is matched is one part of an address, whatever callers write', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (rest) => {
      const one = names.find(`openai/${rest}`);
      if (!one) return;
      const path = new URL(`http://a.test/v1/models/openai/${rest}:act`).pathname;
      expect(path).toBe(`/v1/models/openai/${rest}:act`);
    }),
  );
});

test.each([
  ['*', 'claude-x', 'anthropic', 'anthropic', 'claude-x'],
  ['*', 'openai/gpt-5', 'openai', 'openai', 'gpt-5'],
  ['*', 'main/gpt-5', 'main', 'openai', 'gpt-5'],
  ['*', 'openai/gpt-5', 'router', 'openrouter', 'openai/gpt-5'],
  ['eu.*', 'claude-x', 'p', 'bedrock', 'eu.x'],
  ['fixed', 'claude-x', 'p', 'openai', 'fixed'],
])('a target %s requested as %s at %s (%s) is called %s', (target, name, provider, type, expected) => {
  const rest = name.startsWith('claude-') ? name.slice(7) : name.slice(name.indexOf('/') + 1);
  expect(targetModelFor({ model: target, provider, type }, name, rest)).toBe(expected);
});
