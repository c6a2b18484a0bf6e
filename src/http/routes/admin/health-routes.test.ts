import { expect, test } from 'bun:test';
import { forTests } from '../../../../test/helpers/for-tests.ts';
import { startCatalogueLoopback } from '../../../../test/helpers/loopback.ts';

const edge = forTests(startCatalogueLoopback, (started) => started.stop());

const phases = async () => {
  const { body } = await edge.admin('GET', '/health/targets');
  return body.data.map(({ id, phase }: { id: string; phase: string }) => [id, phase]);
};

test('targets are listed with their health, put into cooldown, and reset', async () => {
  const well = [
    ['main/alpha', 'closed'],
    ['main/gamma:8b', 'closed'],
    ['main/team/beta-2', 'closed'],
  ];
  expect(await phases()).toEqual(well);
  for (const id of ['main/team/beta-2', 'main%2Fteam%2Fbeta-2']) {
    const cooled = await edge.admin('POST', `/health/targets/${id}/cooldown`, { seconds: 600 });
    expect([cooled.status, cooled.body]).toMatchObject([200, { id: 'main/team/beta-2', phase: 'open' }]);
    expect(Date.parse(cooled.body.nextProbeAt)).toBeGreaterThan(Date.now());
    expect(await phases()).toContainEqual(['main/team/beta-2', 'open']);
    expect((await edge.admin('POST', `/health/targets/${id}/reset`, {})).body).toMatchObject({ phase: 'closed' });
    expect(await phases()).toEqual(well);
  }
});

test('an unknown target is 404, a cooldown without end is 400', async () => {
  expect((await edge.admin('POST', '/health/targets/main/nothing/reset', {})).status).toBe(404);
  expect((await edge.admin('POST', '/health/targets/main/alpha/cooldown', { seconds: 0 })).status).toBe(400);
});
