/** Alerts from the command line. */
import { part } from './admin-client.ts';
import { type Command, UsageError } from './command.ts';
import { printRow, printRows } from './printed.ts';
import { adminCommand, listCommand } from './shared-commands.ts';

interface ShownAlert {
  id: string;
  at: string;
  severity: string;
  title: string;
  deliveries: { state: string; error?: string }[];
}

interface ShownChannel {
  id: string;
  name: string;
  type: string;
  url?: string;
  server?: string;
  to?: string[];
  rules: string[] | null;
  enabled: boolean;
}

const list = adminCommand(
  {
    name: 'alerts list',
    usage: '[--rule RULE] [--state STATE] [--limit COUNT]',
    summary: 'Lists the latest alerts, and whether they were sent (pending, sent, dead), 20 by default.',
    options: { rule: { type: 'string' }, state: { type: 'string' }, limit: { type: 'string' } },
  },
  async (admin, open, given) => {
    const query = { rule: given.option('rule'), state: given.option('state'), limit: given.option('limit') ?? '20' };
    const { data } = await admin.get<{ data: ShownAlert[] }>('/alerts', query);
    const rows = data.map(({ id, at, severity, title, deliveries }) => ({
      at,
      severity,
      title,
      state: [...new Set(deliveries.map(({ state }) => state))],
      error: deliveries.find(({ error }) => error !== undefined)?.error,
      id,
    }));
    printRows(open, given, rows, 'There are no alerts.');
  },
);

const channels = listCommand<ShownChannel>(
  { name: 'alerts channels', summary: 'Lists the channels that alerts are sent to.' },
  {
    path: '/alerts/channels',
    isWhole: true,
    row: ({ id, name, type, url, server, to, rules, enabled }) => ({
      id,
      name,
      type,
      state: enabled ? 'on' : 'off',
      address: url ?? `${to?.join(', ')} by ${server}`,
      rules: rules ?? ['all'],
    }),
    empty: 'There are no channels yet: no alerts are raised.',
  },
);

const test = adminCommand(
  {
    name: 'alerts test',
    usage: 'CHANNEL',
    summary: 'Sends a test to a channel, by its id or name. Exits with 1 if it was not accepted.',
  },
  async (admin, open, given) => {
    const [named = ''] = given.words;
    const { data } = await admin.get<{ data: ShownChannel[] }>('/alerts/channels');
    const channel = data.find(({ id, name }) => id === named || name === named);
    if (!channel) throw new UsageError(`There is no channel "${named}": "modelport alerts channels" lists them.`);
    const path = `/alerts/channels/${part(channel.id)}/test`;
    const { sent, error } = await admin.send<{ sent: boolean; error?: string }>('POST', path, {});
    printRow(open, given, { channel: channel.name, sent, error });
    return sent ? 0 : 1;
  },
);

export const ALERT_COMMANDS: readonly Command[] = [list, channels, test];
