/** Commands for models and configuration files. */
import { basename } from 'node:path';
import { priceLine } from '../catalog/price-text.ts';
import { type Command, UsageError } from './command.ts';
import { printRow } from './printed.ts';
import { adminCommand, listCommand } from './shared-commands.ts';
import type { ShownApplied, ShownModel } from './shown.ts';

const apply = adminCommand(
  {
    name: 'apply',
    usage: '-f FILE',
    summary: 'Applies a configuration file (modelport.yaml): adds and changes providers, models and prices.',
    options: { file: { type: 'string', short: 'f' } },
  },
  async (admin, open, given) => {
    const path = given.option('file');
    if (path === undefined) throw new UsageError('Name a file: modelport apply -f modelport.yaml');
    const form = await open.readForm(path);
    const query = { file: basename(path) };
    const applied = await admin.send<ShownApplied>('POST', '/apply', form, { query });
    const { providers, models, messages } = applied;
    for (const { level, message } of messages) {
      if (level === 'warn') open.terminal.err(message);
      else if (!given.json) open.terminal.out(message);
    }
    printRow(open, given, {
      'providers added': providers.added,
      'providers changed': providers.changed,
      'models added': models.added,
      'models changed': models.changed,
      'models repriced': models.repriced,
    });
  },
);

const models = listCommand<ShownModel>(
  { name: 'models', summary: 'Lists the models with prices and targets.' },
  {
    path: '/models',
    row: ({ name, aliases, kind, price = {}, targets, fallbacks }) => ({
      name,
      kind,
      price: priceLine(price),
      targets: targets.map((target) => `${target.provider}/${target.model}`),
      ...(aliases && { aliases }),
      ...(fallbacks && { fallbacks: fallbacks.map(({ model }) => model) }),
    }),
    empty: 'There are no models yet.',
  },
);

export const CATALOG_COMMANDS: readonly Command[] = [models, apply];
