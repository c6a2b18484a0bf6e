import { expect, test } from 'bun:test';
import { readRegistration } from './registration-settings.ts';

const ON = { MODELPORT_REGISTRATION: 'on', MODELPORT_PUBLIC_URL: 'https://models.example.test/' };

test('registration is off until it is switched on', () => {
  expect(readRegistration({})).toBeUndefined();
  expect(readRegistration(ON)).toEqual({
    ...{ credit: 0n, daily: { people: 100, credit: 100_000_000_000n }, domains: [] },
    publicUrl: 'https://models.example.test',
  });
});

test.each([
  [{ MODELPORT_PUBLIC_URL: '' }, 'needs MODELPORT_PUBLIC_URL'],
  [{ MODELPORT_REGISTRATION_CREDIT: '-1' }, 'must be an amount'],
  [{ MODELPORT_REGISTRATION_CREDIT: '101' }, 'nobody could register'],
  [{ MODELPORT_REGISTRATION_DAILY_PEOPLE: '0' }, 'whole number from 1'],
])('%p is refused', (change, message) => {
  expect(() => readRegistration({ ...ON, ...change })).toThrow(message);
});
