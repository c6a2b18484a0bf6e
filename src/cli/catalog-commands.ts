/** What is on sale, from a terminal. */
import { priceLine, readComponents, writePeoplesPrice } from '../catalog/price-text.ts';
import type { Command } from './command.ts';
import { UsageError } from './command.ts';
import { migratedStore } from './opened.ts';
import { printRow, printRows, type Row } from './printed.ts';

const apply: Command = {
  name: 'apply',
  usage: '-f FILE',
  summary: 'Brings providers, models and prices to what the file says (modelport.yaml).',
  options: { file: { type: 'string', short: 'f' } },
  words: [0, 0],
  async run(open, given) {
    const file = given.option('file');
    if (file === undefined) throw new UsageError('Say which file: modelport apply -f modelport.yaml');
    const form = await open.readForm(file);
    await migratedStore(open);
    const { changes, events } = await open.apply(form, file);
    const { providers, models } = changes;
    for (const { isWarning, message } of events) {
      if (isWarning) open.terminal.err(message);
      else if (!given.json) open.terminal.out(message);
    }
    printRow(open, given, {
      'providers added': providers.added,
      'providers changed': providers.changed,
      'models added': models.added,
      'models changed': models.changed,
      'models repriced': models.repriced,
    });
    return 0;
  },
};

const models: Command = {
  name: 'models',
  usage: '',
  summary: 'Lists the models on sale, with prices and targets.',
  words: [0, 0],
  async run(open, given) {
    const store = await migratedStore(open);
    const rows: Row[] = [];
    for (const model of await store.models()) {
      const price = await store.price(model.priceId);
      const components = price ? writePeoplesPrice(readComponents(price.components)) : {};
      rows.push({
        name: model.name,
        kind: model.kind,
        price: priceLine(components),
        targets: model.targets.map((target) => `${target.provider}/${target.model}`),
      });
    }
    printRows(open, given, rows, 'There is no model yet.');
    return 0;
  },
};

export const CATALOG_COMMANDS: readonly Command[] = [models, apply];
