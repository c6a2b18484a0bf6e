/** Makes the record of a call from the members that a test is about. */
import type { CallRow } from '../../src/store/rows.ts';

export function callRow(members: Pick<CallRow, 'id' | 'at'> & Partial<CallRow>): CallRow {
  return {
    account: 'acc_1',
    key: 'key_1',
    model: 'm',
    provider: 'p',
    targetModel: 'm',
    dialect: 'd',
    upstreamDialect: 'd',
    stream: true,
    status: 200,
    outcome: 'ok',
    attempts: 1,
    cost: 0n,
    priceId: 'p',
    durationMs: 5,
    ...members,
  };
}
