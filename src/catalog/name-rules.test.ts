import { expect, test } from 'bun:test';
import { GatewayError } from '../canonical/errors.ts';
import { readCatalogue } from './catalogue.ts';
import { refuseWrongNames } from './name-rules.ts';

const PRICE = { input: 1, output: 2 };
const model = (name: string, more: object = {}) => ({ name, price: PRICE, targets: [{ provider: 'p' }], ...more });
const to = (...models: string[]) => ({ fallbacks: models.map((one) => ({ model: one })) });

/** Of the models written, beside those there are. */
function faultIn(written: object[], there: object[] = []): [string | undefined, string] | undefined {
  try {
    refuseWrongNames(readCatalogue({ models: written }).models, readCatalogue({ models: there }).models);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return [thrown.param, thrown.message];
  }
}

test.each([
  ['a * in the middle', model('a*b'), 'models[0].name'],
  ['two *', model('a**'), 'models[0].name'],
  [
    'a target with a * of a plain name',
    model('a', { targets: [{ provider: 'p', model: '*' }] }),
    'models[0].targets[0].model',
  ],
  ['an alias with a *', model('a', { aliases: ['b*'] }), 'models[0].aliases[0]'],
  ['an alias that is the name', model('a', { aliases: ['a'] }), 'models[0].aliases[0]'],
  ['an alias twice', model('a', { aliases: ['b', 'b'] }), 'models[0].aliases[1]'],
  ['a fallback to itself', model('a', to('a')), 'models[0].fallbacks[0].model'],
  ['a fallback to a wildcard', model('a', to('b*')), 'models[0].fallbacks[0].model'],
  ['a fallback twice', model('a', to('b', 'b')), 'models[0].fallbacks[1].model'],
  ['an unknown reason', model('a', { fallbacks: [{ model: 'b', on: ['rain'] }] }), 'models[0].fallbacks[0].on[0]'],
  ['no reason', model('a', { fallbacks: [{ model: 'b', on: [] }] }), 'models[0].fallbacks[0].on'],
  ['nine fallbacks', model('a', to(...'bcdefghij')), 'models[0].fallbacks'],
  ['a fallback that is not there', model('a', to('b')), 'models[0].fallbacks[0].model'],
])('%s is refused by its path', (_, entry, param) => {
  expect(faultIn([entry])?.[0]).toBe(param);
});

test('a fallback is for a long context and for failures; for a filter only where that is named', () => {
  const [entry] = readCatalogue({ models: [model('a', to('b'))] }).models;
  expect(entry?.fallbacks).toEqual([{ model: 'b', on: ['context_length', 'unavailable'] }]);
});

test('a model written without a target name passes on what its wildcard matched', () => {
  const [wildcard, plain] = readCatalogue({ models: [model('a-*'), model('a')] }).models;
  expect([wildcard?.targets[0]?.model, plain?.targets[0]?.model]).toEqual(['*', 'a']);
});

test('an alias belongs to one model, written or there', () => {
  const a = model('a', { aliases: ['x'] });
  expect(faultIn([a, model('b', { aliases: ['x'] })])?.[0]).toBe('models[0].aliases[0]');
  expect(faultIn([model('b', { aliases: ['x'] })], [a])?.[1]).toContain('an alias of the model "a" already');
  expect(faultIn([model('b', { aliases: ['x'] })], [model('b', { aliases: ['x'] })])).toBeUndefined();
});

test('models that fall back to each other in a circle are refused, over aliases and wildcards too', () => {
  expect(faultIn([model('a', to('b')), model('b', to('a'))])?.[1]).toContain('a -> b -> a');
  expect(
    faultIn([model('c', to('x'))], [model('a', { aliases: ['x'], ...to('c-1') }), model('c-*', to('c'))])?.[1],
  ).toContain('c -> x -> c-1 -> c');
  expect(faultIn([model('c-*', to('c-1'))])?.[1]).toContain('leads back to the model itself');
  expect(faultIn([model('a', to('b', 'c')), model('b', to('c')), model('c')])).toBeUndefined();
});

test('a circle among other models is not this one’s fault', () => {
  expect(faultIn([model('a', to('b'))], [model('b', to('c')), model('c', to('b'))])).toBeUndefined();
});

test('a fallback is of the same kind', () => {
  expect(faultIn([model('a', to('b'))], [model('b', { kind: 'embed', price: { input: 1 } })])?.[1]).toContain(
    'of kind embed',
  );
});
