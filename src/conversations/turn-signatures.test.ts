/** Reasoning signatures as stored. */
import { expect, test } from 'bun:test';
import { readTurn, type TurnSignatures, writeTurn } from './turn-signatures.ts';

const turn: TurnSignatures = {
  owner: 'openai-responses@main',
  parts: [
    {
      type: 'reasoning',
      text: 'Hm.',
      signature: { dialect: 'openai-responses', value: 'a', id: 'rs_1', owner: 'main' },
    },
    { type: 'text', signature: { dialect: 'gemini', value: 'b' }, empty: true },
    { type: 'tool-call' },
  ],
};

// The names of the first version: older gateways on the same database read and write them.
const stored = {
  maker: 'openai-responses@main',
  parts: [
    { type: 'reasoning', text: 'Hm.', seal: { dialect: 'openai-responses', value: 'a', id: 'rs_1', maker: 'main' } },
    { type: 'text', seal: { dialect: 'gemini', value: 'b' }, empty: true },
    { type: 'tool-call' },
  ],
};

test('the signatures of a turn are stored under names that older gateways read', () => {
  expect(JSON.parse(writeTurn(turn))).toEqual(stored);
  expect(readTurn(JSON.stringify(stored))).toEqual(turn);
});
