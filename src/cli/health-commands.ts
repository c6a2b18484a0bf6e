/** The health of targets, from the command line. */
import { part } from './admin-client.ts';
import type { Command } from './command.ts';
import { UsageError } from './command.ts';
import { adminOf } from './opened.ts';
import { type PrintedRow, printRow, printRows } from './printed.ts';
import type { ShownTarget } from './shown.ts';

const list: Command = {
  name: 'health list',
  summary: 'Lists all targets with their health.',
  async run(open, given) {
    const { data } = await adminOf(open, given).get<{ data: ShownTarget[] }>('/health/targets');
    printRows(open, given, data.map(rowOf), 'There is no target yet.');
    return 0;
  },
};

const cooldown: Command = {
  name: 'health cooldown',
  usage: 'TARGET [--seconds N]',
  summary: 'Puts a target (PROVIDER/MODEL) into cooldown, for 60 seconds by default.',
  options: { seconds: { type: 'string' } },
  async run(open, given) {
    const written = given.option('seconds');
    if (written !== undefined && !/^\d{1,5}$/.test(written))
      throw new UsageError('--seconds must be a number of seconds.');
    const body = written === undefined ? {} : { seconds: Number(written) };
    const path = `/health/targets/${part(given.words[0] ?? '')}/cooldown`;
    printRow(open, given, rowOf(await adminOf(open, given).send<ShownTarget>('POST', path, body)));
    return 0;
  },
};

const reset: Command = {
  name: 'health reset',
  usage: 'TARGET',
  summary: 'Ends the cooldowns of a target (PROVIDER/MODEL) and forgets its errors.',
  async run(open, given) {
    const path = `/health/targets/${part(given.words[0] ?? '')}/reset`;
    printRow(open, given, rowOf(await adminOf(open, given).send<ShownTarget>('POST', path, {})));
    return 0;
  },
};

function rowOf({ id, phase, calls, errorRate, inFlight, firstTokenMs, nextProbeAt, queued }: ShownTarget): PrintedRow {
  return {
    target: id,
    phase,
    calls,
    'error rate': errorRate,
    'in flight': inFlight,
    'first token ms': firstTokenMs,
    queued,
    'next probe': nextProbeAt,
  };
}

export const HEALTH_COMMANDS: readonly Command[] = [list, cooldown, reset];
