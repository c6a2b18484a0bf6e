import { expect, test } from 'bun:test';
import type { Store } from '../../../store/store.ts';
import { NO_FIGURES } from '../../../store/sums/call-sums.ts';
import { ALL_GROUPS, usageReport } from './usage-report.ts';

test.each([null, 'text/csv', 'application/x-ndjson'])(
  'a long report (%p) lets calls go on while it is written',
  async (accept) => {
    const at = Date.UTC(2026, 9, 25);
    const many = 5000;
    const sums = Array.from({ length: many }, (_, index) => ({
      ...NO_FIGURES,
      calls: 1,
      hour: at + (index % 48) * 3_600_000,
      model: `m ${index}`,
    }));
    const store = { usage: async () => sums } as unknown as Store;
    const query = { group_by: 'hour,model', tz: 'Europe/Berlin' };
    const report = await usageReport({ store, now: () => at }, query, ALL_GROUPS, {}, accept);
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    turn();
    const text = await (report as Response).text();
    isOver = true;
    expect(turns).toBeGreaterThan(8);
    expect(text.match(/2026-10-25T02:00:00\+02:00/g)?.length).toBeGreaterThan(0);
    expect(text.match(/2026-10-25T02:00:00\+01:00/g)?.length).toBeGreaterThan(0);
    if (accept === null) expect(JSON.parse(text)).toMatchObject({ total: { calls: many } });
    else expect(text.trimEnd().split('\n').length).toBe(many + (accept === 'text/csv' ? 1 : 0));
  },
);

test.each([
  ['UTC', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
  ['America/New_York', '2026-11-01T04:00:00.000Z', '2026-12-01T05:00:00.000Z'],
  ['Asia/Kathmandu', '2026-10-31T18:15:00.000Z', '2026-11-30T18:15:00.000Z'],
  ['Pacific/Kiritimati', '2026-10-31T10:00:00.000Z', '2026-11-30T10:00:00.000Z'],
  ['Pacific/Pago_Pago', '2026-11-01T11:00:00.000Z', '2026-12-01T11:00:00.000Z'],
])('a report over dates in %s is one over days of that zone', async (tz, from, to) => {
  const asked: [number, number][] = [];
  const usage = async ({ from, to }: { from: number; to: number }) => {
    asked.push([from, to]);
    return [];
  };
  const deps = { store: { usage } as unknown as Store, now: () => Date.UTC(2026, 11, 24) };
  const report = (query: object) => usageReport(deps, { group_by: 'model', tz, ...query }, ALL_GROUPS, {}, null);
  expect(await report({ from: '2026-11-01', to: '2026-12-01' })).toMatchObject({ from, to });
  // A time is what it says.
  await report({ from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' });
  expect(asked).toEqual([
    [Date.parse(from), Date.parse(to)],
    [Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1)],
  ]);
  await expect(report({ from: '2026-02-30' })).rejects.toThrow('"from" must be a time');
});
