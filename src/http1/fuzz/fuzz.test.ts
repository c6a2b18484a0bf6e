import { expect, test } from 'bun:test';
import { ALLOWED } from './allowed.ts';
import { differenceOf } from './compare.ts';
import { fuzz } from './fuzz.ts';
import { node, startNode } from './node-peer.ts';

const SEED = 14;
const CASES = 1500;
if (!node) console.log('skipped: node, the other reader, is not installed');

test.skipIf(!node)(`requests and replies are parsed as by Node (seed ${SEED}, ${CASES} of each)`, async () => {
  const peer = startNode(node!);
  const { cases, alike, allowed, faults } = await fuzz(peer, SEED, CASES);
  peer.close();
  console.log(`fuzz: seed ${SEED}, ${cases} cases, ${alike} read alike, on purpose ${JSON.stringify(allowed)}`);
  expect(faults).toEqual([]);
  expect(cases).toBe(2 * CASES);
  // Most are valid, otherwise little would be compared.
  expect(alike).toBeGreaterThan(CASES / 2);
});

test('a difference is reported, whichever side refuses or parses differently', () => {
  const message = { method: 'GET', target: '/a', headers: ['Host', 'x'], body: '', complete: true };
  const one = { messages: [message] };
  const none = { messages: [], error: 'no' };
  expect(differenceOf(one, one)).toBeUndefined();
  expect(differenceOf(none, one)).toMatchObject({ kind: 'we refuse', what: 'no' });
  expect(differenceOf(one, none)).toMatchObject({ kind: 'they refuse', what: 'no' });
  for (const other of [{ target: '/b' }, { body: 'x' }, { headers: ['Host', 'y'] }])
    expect(differenceOf(one, { messages: [{ ...message, ...other }] })).toMatchObject({ kind: 'read differently' });
});

test('every intended difference has a unique name and a reason', () => {
  expect(new Set(ALLOWED.map(({ side, name }) => `${side} ${name}`)).size).toBe(ALLOWED.length);
  for (const { reason } of ALLOWED) expect(reason.length).toBeGreaterThan(20);
});
