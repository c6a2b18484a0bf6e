import { expect, test } from 'bun:test';
import { personBelowGate, type SignedIn } from './session.ts';

test('a page that is drawn once more after a sign-out has the person who was there', () => {
  const ways = { password: true, passkeys: true };
  expect(() => personBelowGate({ person: null, ways })).toThrow();
  const me = { person: { id: 'person_1' }, ways } as SignedIn;
  expect(personBelowGate(me)).toBe(me);
  expect(personBelowGate({ person: null, ways })).toBe(me);
});
