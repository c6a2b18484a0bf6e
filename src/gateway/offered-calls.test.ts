/** The price of a call: scheduled price versions, and price groups of accounts. */
import { expect, test } from 'bun:test';
import { chatRequest, streamAnswer, wholeAnswer } from '../../test/helpers/chat-answers.ts';
import { forTests } from '../../test/helpers/for-tests.ts';
import { FakeSink, type GatewayCase, startGatewayBench } from '../../test/helpers/gateway-bench.ts';
import { auditOf } from '../access/audit.ts';
import { writeMoney } from '../canonical/money.ts';
import { withPriceId } from '../catalog/offer.ts';
import { readComponents } from '../catalog/price-text.ts';
import type { ByteSource } from '../http1/answer.ts';
import { replay } from '../ledger/replay.ts';

const bench = forTests(startGatewayBench, (started) => started.close());

/** 11 input and 7 output tokens at 1 and 4 USD per million. */
const LIST_COST = 39_000n;

async function schedule(at: GatewayCase, priceId: string, components: string, from: number): Promise<void> {
  const model = at.model;
  const now = at.deps.now();
  await bench.store.savePrice({ id: priceId, model, components, createdAt: now, effectiveAt: from });
  const row = (await bench.store.models()).find(({ name }) => name === model)!;
  const audit = auditOf({ actor: 'cli', action: 'price.adopted', subject: model }, now);
  await bench.store.saveModel(withPriceId(row, priceId, now, from), audit);
  await at.deps.catalog.reload();
}

async function differences(from: number, to: number): Promise<number> {
  const found = () => {};
  return (await replay(bench.store, { from, to, readPrice: readComponents, found })).differences;
}

test('a scheduled price applies to calls that are held at its time or later, whenever they end', async () => {
  const at = await bench.open();
  const begun = at.deps.now();
  const from = begun + 10_000;
  await schedule(at, 'price_double', '{"input":"2000000","output":"8000000"}', from);
  at.transport.script(wholeAnswer('Hello'));
  await at.serve(chatRequest(at.model));
  at.turn(9999);
  // Held one millisecond before the boundary, and ended after it.
  at.transport.script((request) => {
    request.take();
    at.turn(1);
    request.answer(wholeAnswer('Hello'));
  });
  await at.serve(chatRequest(at.model));
  at.transport.script(wholeAnswer('Hello'));
  await at.serve(chatRequest(at.model));
  await at.deps.ledger.flush();
  expect(at.calls.map(({ cost }) => cost)).toEqual([LIST_COST, LIST_COST, 2n * LIST_COST]);
  expect(at.calls.map(({ priceId }) => priceId === 'price_double')).toEqual([false, false, true]);
  expect(at.calls[2]?.at).toBe(from);
  expect(await differences(begun, from + 1000)).toBe(0);
  expect(await at.deps.ledger.verify()).toMatchObject({ ok: true, faults: [] });
});

test('an account in a price group is held and charged list prices times the factor, by a price version with that factor', async () => {
  const at = await bench.open();
  const now = at.deps.now();
  await bench.store.savePriceGroup({ name: 'resellers', factor: '1.234567', createdAt: now });
  await bench.store.updateAccount(at.caller.account, { priceGroup: 'resellers' });
  at.deps.access.forget();
  at.transport.script(wholeAnswer('Hello'));
  await at.serve(chatRequest(at.model));
  await at.deps.ledger.flush();
  const [call] = at.calls;
  // 39,000 times 1.234567 is 48,148.113.
  expect(call?.cost).toBe(48_149n);
  expect(call?.priceId).toMatch(/^price_\w+\*1\.234567$/);
  expect((await bench.store.price(call?.priceId ?? ''))?.components).toContain('"factor":"1.234567"');

  await bench.store.savePriceGroup({ name: 'resellers', factor: '0.5', createdAt: now });
  at.deps.access.forget();
  at.transport.script(streamAnswer(['Hel', 'lo']));
  const answer = await at.serve(chatRequest(at.model, { stream: true }));
  const sink = new FakeSink();
  (answer.body as ByteSource).start(sink);
  expect(await sink.over).toBe('ended');
  // 19,500 is half of 39,000.
  expect(at.calls[1]).toMatchObject({ cost: 19_500n, stream: true });
  await at.deps.ledger.flush();
  expect(await differences(now, now + 1)).toBe(0);
  expect(await at.deps.ledger.verify()).toMatchObject({ ok: true, faults: [] });
});

test('both requests of a hedged call are multiplied and rounded up as one charge, which replay finds again', async () => {
  let waiting: (() => void) | undefined;
  const wait = (_ms: number, over: () => void) => {
    waiting = over;
    return () => {};
  };
  const at = await bench.open({ targets: 2, model: { hedge: 'on', retries: 0 }, deps: { wait } });
  const now = at.deps.now();
  await bench.store.savePriceGroup({ name: 'hedged', factor: '1.000001', createdAt: now });
  await bench.store.updateAccount(at.caller.account, { priceGroup: 'hedged' });
  at.deps.access.forget();
  const serving = at.serve(chatRequest(at.model));
  await at.transport.next();
  waiting?.();
  const second = await at.transport.next();
  second.answer(wholeAnswer('Hello'));
  const { headers } = await serving;
  const [call] = at.calls;
  const estimated = BigInt(call?.usage?.hedge?.usage.input ?? 0);
  expect(estimated).toBeGreaterThan(0n);
  // A millionth of so little is less than a nano-USD: rounded up once it is one.
  const cost = LIST_COST + estimated * 1000n + 1n;
  expect(call?.cost).toBe(cost);
  expect(headers['x-modelport-cost']).toBe(writeMoney(cost));
  await at.deps.ledger.flush();
  expect(await differences(now, now + 1)).toBe(0);
  expect(await at.deps.ledger.verify()).toMatchObject({ ok: true, faults: [] });
});
