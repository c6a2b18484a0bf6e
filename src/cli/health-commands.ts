/** The health of a server and of its targets, from the command line. */
import { type Command, UsageError } from './command.ts';
import type { PrintedRow } from './printed.ts';
import { changeIn, listCommand } from './shared-commands.ts';
import type { ShownTarget } from './shown.ts';

/** Container engines give a check some seconds. */
const ANSWER_MS = 4000;

const changeTarget = changeIn<ShownTarget>('health/targets', rowOf);

const health: Command = {
  name: 'health',
  isLocal: true,
  usage: '[--ready] [--url URL]',
  summary:
    'Asks a server, by default the one on this machine, whether it is alive, with --ready whether it can take calls. Exits with 1 if not. Needs no key.',
  options: { ready: { type: 'boolean' }, url: { type: 'string' } },
  async run(open, given) {
    const { url, certificate } = open.address(given.option('url'));
    const path = given.flag('ready') ? '/ready' : '/health';
    const { status, text } = await open
      .ask({ method: 'GET', url: url + path, headers: {}, certificate, timeoutMs: ANSWER_MS })
      .catch((cause) => {
        throw new UsageError(`${url}${path} did not answer: ${cause instanceof Error ? cause.message : cause}`);
      });
    if (status !== 200) throw new UsageError(`${url}${path} answered ${status}: ${text.slice(0, 500).trim()}`);
    open.terminal.out(given.json ? JSON.stringify({ url, healthy: true }) : `${url}${path} answered 200.`);
    return 0;
  },
};

const list = listCommand<ShownTarget>(
  { name: 'health list', summary: 'Lists all targets with their health.' },
  { path: '/health/targets', isWhole: true, row: rowOf, empty: 'There is no target yet.' },
);

const cooldown: Command = {
  name: 'health cooldown',
  usage: 'TARGET [--seconds N]',
  summary: 'Puts a target (PROVIDER/MODEL) into cooldown, for 60 seconds by default.',
  options: { seconds: { type: 'string' } },
  run(open, given) {
    const written = given.option('seconds');
    if (written !== undefined && !/^\d{1,5}$/.test(written))
      throw new UsageError('--seconds must be a number of seconds.');
    const body = written === undefined ? {} : { seconds: Number(written) };
    return changeTarget(open, given, 'POST', '/cooldown', body);
  },
};

const reset: Command = {
  name: 'health reset',
  usage: 'TARGET',
  summary: 'Ends the cooldowns of a target (PROVIDER/MODEL) and forgets its errors.',
  run: (open, given) => changeTarget(open, given, 'POST', '/reset', {}),
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

export const HEALTH_COMMANDS: readonly Command[] = [list, cooldown, reset, health];
