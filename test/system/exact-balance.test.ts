/** Thousands of concurrent calls over four processes with a balance for seven hundred. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chatRequest } from '../helpers/chat-answers.ts';
import { ENGINES } from '../helpers/engines.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway-process.ts';
import { ofLoad } from '../helpers/property.ts';

const CALLS = ofLoad(10_000, 3000);
const COVERED = 700;

describe.each(ENGINES)('$name', (engine) => {
  let gateway: GatewayProcess;
  beforeAll(async () => {
    const { settings } = await engine.freshDatabase();
    gateway = await startGateway({
      database: settings,
      environment: {
        MODELPORT_PROCESSES: '4',
        MODELPORT_LOG_LEVEL: 'error',
      },
      // Priced per call, so that the hold equals the cost.
      models: [
        {
          name: 'by-the-call',
          kind: 'chat',
          price: { perCall: 0.001 },
          targets: [{ provider: 'sandbox', model: 'sandbox-chat' }],
        },
      ],
    });
  }, 60_000);
  afterAll(async () => {
    await gateway.stop('keep');
  }, 60_000);

  test('exactly the calls that the balance covers succeed, and it ends at zero', async () => {
    const caller = await gateway.newCaller('0.70');
    const body = JSON.stringify(chatRequest('by-the-call'));
    const headers = { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' };
    const statuses = await Promise.all(
      Array.from({ length: CALLS }, async () => {
        const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
        await response.arrayBuffer();
        return response.status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(COVERED);
    expect(statuses.filter((status) => status === 402)).toHaveLength(CALLS - COVERED);
    expect(await gateway.balance(caller)).toMatchObject({ available: '0', held: '0' });
    expect(await gateway.calls(caller)).toHaveLength(COVERED);
    expect(await gateway.verify()).toMatchObject({ ok: true, holds: 0 });
  }, 120_000);
});
