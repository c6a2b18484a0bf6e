import { expect, test } from 'bun:test';
import { fc } from '../../test/helpers/property.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { Json } from '../canonical/json.ts';
import { readModels, readWishes, suffixOf, wishedTargets } from './wishes.ts';

const target = (provider: string, type: string, priority = 0, settings: { [name: string]: string } = {}) => ({
  id: provider,
  provider,
  type,
  priority,
  settings,
});
const TARGETS = [target('main', 'openai'), target('Eu-Azure', 'azure', 1), target('backup', 'openai', 2)];
const left = (wishes: Json, targets = TARGETS) => wishedTargets(targets, readWishes(wishes)).map(({ id }) => id);

function faultIn(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    expect([thrown.code, thrown.message]).toEqual(['invalid_request', expect.stringContaining(`\`${thrown.param}\``)]);
    return thrown.param;
  }
}

test.each<[string, Json, string[]]>([
  ['nothing', {}, ['main', 'Eu-Azure', 'backup']],
  ['an order by name, in any case', { order: ['eu-azure'] }, ['Eu-Azure', 'main', 'backup']],
  ['an order by type', { order: ['azure', 'OpenAI'] }, ['Eu-Azure', 'main', 'backup']],
  ['an order beyond priorities', { order: ['backup', 'main'] }, ['backup', 'main', 'Eu-Azure']],
  ['an order without fallbacks', { order: ['backup'], allow_fallbacks: false }, ['backup']],
  ['some only', { only: ['openai'] }, ['main', 'backup']],
  ['none of some', { ignore: ['openai', 'nobody'] }, ['Eu-Azure']],
  ['a name that no provider has', { only: ['anthropic'] }, []],
  ['all together', { order: ['backup'], only: ['openai'], ignore: ['main'] }, ['backup']],
])('%s', (_, wishes, expected) => {
  expect(left(wishes)).toEqual(expected);
});

test('an order by price or speed is across the priorities of the operator', () => {
  const priorities = wishedTargets(TARGETS, readWishes({ sort: 'price' })).map(({ priority }) => priority);
  expect(priorities).toEqual([0, 0, 0]);
});

test('a provider that gets the wishes in its own request stays, whatever its hosts are called', () => {
  const router = target('router', 'openrouter', 0, { callerRouting: 'pass' });
  const all = [...TARGETS, router];
  expect(left({ only: ['deepinfra'], order: ['deepinfra'], allow_fallbacks: false }, all)).toEqual(['router']);
  expect(left({ ignore: ['openrouter'] }, [router])).toEqual([]);
  expect(left({ only: ['deepinfra'] }, [target('router', 'openrouter')])).toEqual([]);
});

test('data: a target without a stated policy counts as the least strict', () => {
  const all = ['none', 'retained', 'training', undefined].map((dataPolicy, i) => ({
    ...target(`t${i}`, 'openai'),
    ...(dataPolicy && { capabilities: { dataPolicy } }),
  }));
  expect(left({ data_collection: 'deny' }, all)).toEqual(['t0', 't1']);
  expect(left({ zdr: true }, all)).toEqual(['t0']);
  expect(left({ data_collection: 'allow' }, all)).toHaveLength(4);
});

test('quantizations are those that the operator states of a provider', () => {
  const all = [target('a', 'vllm', 0, { quantization: 'fp8' }), target('b', 'vllm')];
  expect(left({ quantizations: ['fp8'] }, all)).toEqual(['a']);
  expect(left({ quantizations: ['unknown'] }, all)).toEqual(['b']);
});

test.each<[string, Json]>([
  ['provider', 'openai'],
  ['provider', ['openai']],
  ['provider.oder', { oder: ['a'] }],
  ['provider.order', { order: 'openai' }],
  ['provider.order[1]', { order: ['a', 1] }],
  ['provider.only[0]', { only: [''] }],
  ['provider.allow_fallbacks', { allow_fallbacks: 'no' }],
  ['provider.require_parameters', { require_parameters: 1 }],
  ['provider.sort', { sort: 'beauty' }],
  ['provider.sort.by', { sort: { by: 'beauty' } }],
  ['provider.max_price', { max_price: 3 }],
  ['provider.max_price.tokens', { max_price: { tokens: 3 } }],
  ['provider.max_price.prompt', { max_price: { prompt: -1 } }],
  ['provider.max_price.prompt', { max_price: { prompt: 'cheap' } }],
  ['provider.data_collection', { data_collection: 'no' }],
  ['provider.zdr', { zdr: 'yes' }],
])('%s is named where it is wrong: %j', (param, wishes) => {
  expect(faultIn(() => readWishes(wishes))).toBe(param);
});

test('null counts as absent', () => {
  expect(readWishes({ order: null, sort: null, max_price: null, allow_fallbacks: null, zdr: null })).toMatchObject({
    allowFallbacks: true,
    requireParameters: false,
  });
});

test.each<[Json, string | undefined]>([
  [{ data_collection: 'deny' }, 'retained'],
  [{ data_collection: 'allow' }, undefined],
  [{ zdr: true }, 'none'],
  [{ zdr: true, data_collection: 'deny' }, 'none'],
])('%j accepts data to be kept: %p', (wishes, policy) => {
  expect(readWishes(wishes).dataPolicy).toBe(policy as never);
});

test('models are names, and not too many', () => {
  expect(readModels(['a', 'b'])).toEqual(['a', 'b']);
  expect(faultIn(() => readModels('a'))).toBe('models');
  expect(faultIn(() => readModels(['a', 3]))).toBe('models[1]');
  expect(faultIn(() => readModels('abcdefghijk'.split('')))).toBe('models');
});

test('suffixes of names ask for an order', () => {
  expect(suffixOf('a/b:nitro')).toEqual({ name: 'a/b', sort: 'throughput' });
  expect(suffixOf('a:floor')).toEqual({ name: 'a', sort: 'price' });
  for (const name of ['a', 'a:free', ':nitro', 'nitro']) expect(suffixOf(name)).toBeUndefined();
});

test('property: wishes never add or repeat a target, and respect what they exclude', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'openai', 'azure', 'x');
  const names = fc.option(fc.array(name, { maxLength: 3 }), { nil: undefined });
  const targets = fc.uniqueArray(
    fc.record({
      provider: fc.constantFrom('a', 'b', 'c'),
      type: fc.constantFrom('openai', 'azure'),
      priority: fc.nat(2),
    }),
    { selector: ({ provider }) => provider },
  );
  fc.assert(
    fc.property(targets, names, names, names, fc.boolean(), (some, order, only, ignore, allow) => {
      const all = some.map(({ provider, type, priority }) => target(provider, type, priority));
      const wishes = {
        ...(order && { order }),
        ...(only && { only }),
        ...(ignore && { ignore }),
        allow_fallbacks: allow,
      };
      const result = wishedTargets(all, readWishes(wishes));
      const isNamed = (one: { provider: string; type: string }, list: string[]) =>
        list.includes(one.provider) || list.includes(one.type);
      expect(new Set(result.map(({ id }) => id)).size).toBe(result.length);
      for (const one of result) {
        expect(all.some(({ id }) => id === one.id)).toBe(true);
        if (only?.length) expect(isNamed(one, only)).toBe(true);
        if (ignore?.length) expect(isNamed(one, ignore)).toBe(false);
        if (order?.length && !allow) expect(isNamed(one, order)).toBe(true);
      }
    }),
  );
});
