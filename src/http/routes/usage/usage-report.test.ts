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
